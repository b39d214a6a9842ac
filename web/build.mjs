// Makes one HTML file of the page's sources: script and style inside, and a mark where the command
// puts its data.
//
//   node build.mjs FILE
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, '../build/web/page.html'));

const bundle = async (entry) => {
  const made = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    format: 'iife',
    target: ['chrome100', 'firefox113', 'safari16.4'], // the first with DecompressionStream, or so
    legalComments: 'none',
    logLevel: 'warning',
  });
  return made.outputFiles[0].text.trim();
};

// Their licences want their notices to go with them.
const notice = (name) => readFileSync(join(here, 'node_modules', name), 'utf8').trim();
const script = `/*\n${notice('echarts/NOTICE')}\nApache License, Version 2.0.\n\nzrender: ${notice('zrender/LICENSE')}\n*/\n${await bundle('main.js')}`;
const style = await bundle('style.css');
for (const [text, end] of [[script, '</script'], [style, '</style']]) {
  if (text.toLowerCase().includes(end)) throw new Error(`the bundle holds ${end}`);
}
// By functions: a $ in what is put in means nothing.
const page = readFileSync(join(here, 'page.html'), 'utf8')
  .replace('/*style*/', () => style)
  .replace('/*script*/', () => script);
if (page.split('<!--data-->').length !== 2) throw new Error('the mark <!--data--> is not there once');

mkdirSync(dirname(target), { recursive: true });
writeFileSync(`${target}.new`, page); // replaced as a whole: a build may read it at any moment
renameSync(`${target}.new`, target);
console.log(`web: made ${target} (${Math.round(page.length / 1000)} kB)`);
