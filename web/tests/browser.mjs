// A real browser without a window, that may reach nothing but this machine.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

export function find_chromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const folders = (process.env.PATH ?? '').split(delimiter);
  return process.env.RAREFY_CHROMIUM
    ?? names.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file));
}

const local = (address) => /^(data|blob|about|file):/.test(address) || ['127.0.0.1', 'localhost'].includes(new URL(address).hostname);

/// { open(options), close() }. Every page that is opened has `problems`: errors of the console, of
/// scripts, and requests that would have left this machine (they are refused).
export async function start_browser() {
  const profile = mkdtempSync(join(tmpdir(), 'rarefy-browser-'));
  const contexts = new Set();
  const root = process.getuid?.() === 0; // Chromium's sandbox refuses to be root's
  const browser = await chromium.launch({
    executablePath: find_chromium(),
    args: [...(root ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', `--crash-dumps-dir=${profile}`],
    env: { ...process.env, HOME: profile, XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile },
  });
  return {
    version: browser.version(),
    async open(address, { width = 1200, height = 900, dark = false, ready = true } = {}) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
      contexts.add(context);
      const page = await context.newPage();
      page.problems = [];
      page.requests = [];
      await context.route('**/*', (route) => {
        const asked = route.request().url();
        page.requests.push(asked);
        if (local(asked)) return route.continue();
        page.problems.push(`a request beyond this machine: ${asked}`);
        return route.abort();
      });
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) page.problems.push(`console: ${message.text()}`);
      });
      page.on('pageerror', (error) => page.problems.push(`script: ${error.stack ?? error}`));
      await page.goto(address);
      if (ready) await page.waitForSelector('body[data-ready]');
      return page;
    },
    async close_pages() {
      for (const context of contexts) await context.close();
      contexts.clear();
    },
    async close() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
