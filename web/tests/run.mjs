// Tests of the page in a real browser: scripts/page-tests.
//
//   node run.mjs [NAME...]     only tests whose names hold one of these
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start_browser } from './browser.mjs';
import { live_tests } from './live_tests.mjs';
import { made_up_data, write_page } from './made_up.mjs';
import { rarefy, temporary_folder, watch } from './processes.mjs';
import { report_tests } from './report_tests.mjs';
import { server_tests } from './server_tests.mjs';

const seconds_per_test = 600; // ends what hangs; no test depends on how fast the machine is
const shell = join(dirname(fileURLToPath(import.meta.url)), '../../build/web/page.html');
const folder = temporary_folder();

/// The page of runs as a file, by way of the server.
async function save_report(name, ...folders) {
  const watcher = await watch(...folders);
  const answer = await fetch(`${watcher.address}report.html`);
  if (!answer.ok) throw new Error(`report.html: ${answer.status}`);
  writeFileSync(join(folder, name), await answer.text());
  await watcher.end();
  return `file://${join(folder, name)}`;
}

const runs = [];
const first = [];
for (const [domain, ...more] of [['lp'], ['maze', '--objective', 'energy']]) {
  for (const algorithm of ['dds-kde', 'cma-mae']) {
    for (const seed of [1, 2]) {
      runs.push(join(folder, 'runs', `${domain}-${algorithm}-${seed}`));
      if (domain === 'lp' && algorithm === 'dds-kde') first.push(runs.at(-1));
      rarefy('run', domain, ...more, '--algorithm', algorithm, '--seed', seed, '--iterations', 40, '--metrics-every', 5, '--frames', 5, '--out', runs.at(-1));
    }
  }
}
for (const width of [0.02, 0.1, 0.5]) {
  for (const seed of [1, 2]) rarefy('run', 'lp', '--bandwidth', `${width} width`, '--seed', seed, '--iterations', 10, '--metrics-every', 5, '--out', join(folder, 'ablation', `${width}-${seed}`));
}
write_page(shell, join(folder, 'made-up.html'), made_up_data());

const browser = await start_browser();
const things = {
  browser,
  runs: first,
  report: await save_report('report.html', join(folder, 'runs')),
  ablation: await save_report('ablation.html', join(folder, 'ablation')),
  made_up: `file://${join(folder, 'made-up.html')}`,
};
const wanted = process.argv.slice(2);
const tests = Object.entries({ ...report_tests(things), ...server_tests(things), ...live_tests(things) })
  .filter(([name]) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
console.log(`page: ${tests.length} tests in Chromium ${browser.version}`);
let failed = 0;
for (const [name, test] of tests) {
  let timer;
  try {
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`not done in ${seconds_per_test} s`)), 1000 * seconds_per_test); });
    await Promise.race([test(), late]);
    console.log(`  passed  ${name}`);
  } catch (error) {
    ++failed;
    console.log(`  FAILED  ${name}\n${String(error.stack ?? error).replace(/^/gm, '          ')}`);
  } finally {
    clearTimeout(timer);
    await browser.close_pages();
  }
}
await browser.close();
console.log(failed === 0 ? 'page: all passed' : `page: ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
