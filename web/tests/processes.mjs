// The command, its runs, and what it serves.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const command = process.env.RAREFY_COMMAND;
const children = new Set();

export function temporary_folder() {
  const folder = mkdtempSync(join(tmpdir(), 'rarefy-page-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/// Runs to the end.
export function rarefy(...words) {
  const done = spawnSync(command, words.map(String), { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`rarefy ${words.join(' ')}: ${done.status}\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

/// Goes on in the background: { child, ended: Promise of { code, signal, text } }.
export function begin(...words) {
  const child = spawn(command, words.map(String), { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let text = '';
  child.stdout.on('data', (data) => { text += data; });
  child.stderr.on('data', (data) => { text += data; });
  const ended = new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      children.delete(child);
      resolve({ code, signal, text });
    });
  });
  return { child, ended, text: () => text };
}

/// Watches folders: { address, end }.
export async function watch(...folders) {
  const process_ = begin('watch', ...folders, '--no-open');
  const address = await new Promise((resolve, reject) => {
    const look = () => {
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(process_.text());
      if (found) resolve(found[0]);
    };
    process_.child.stdout.on('data', look);
    process_.ended.then(({ text }) => reject(new Error(`rarefy watch has ended: ${text}`)));
  });
  return {
    ...process_, address,
    end() {
      process_.child.kill('SIGINT');
      return process_.ended;
    },
  };
}

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
