// `rarefy watch`: the page grows while runs go on.
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { join } from 'node:path';
import { begin, temporary_folder, watch } from './processes.mjs';

const last_x = (page) => page.evaluate(() => document.querySelector('#curves .chart')?.chart?.getOption().series[0].data.at(-1)[0] ?? 0);

export function live_tests({ browser, runs }) {
  return {
    async 'a run that begins and goes on is seen by all who watch'() {
      const folder = join(temporary_folder(), 'later');
      const watcher = await watch(folder);
      const pages = [await browser.open(watcher.address, { ready: false }), await browser.open(watcher.address, { ready: false, width: 360 })];
      for (const page of pages) await page.waitForFunction(() => /Waiting for a run in/.test(document.querySelector('.status').textContent));
      const run = begin('run', 'lp', '--iterations', 1000000, '--metrics-every', 10, '--frames', 100, '--checkpoint-seconds', 0.2, '--threads', 1, '--out', folder);
      for (const page of pages) {
        await page.waitForSelector('body[data-ready]', { timeout: 120_000 });
        await page.waitForSelector('canvas.heatmap', { timeout: 120_000 });
        const [x, picture] = [await last_x(page), await page.evaluate(() => document.querySelector('canvas.heatmap').toDataURL())];
        await page.waitForFunction((before) => document.querySelector('#curves .chart').chart.getOption().series[0].data.at(-1)[0] > before, x, { timeout: 120_000 });
        await page.waitForFunction((before) => document.querySelector('canvas.heatmap').toDataURL() !== before, picture, { timeout: 120_000 });
        assert.match(await page.textContent('.status'), /^Live\./);
        assert.match(await page.textContent('.summary'), /under way/);
      }
      run.child.kill('SIGINT');
      await run.ended;
      for (const page of pages) {
        assert.deepEqual(page.problems, []);
        for (const asked of page.requests) assert.ok(asked.startsWith(watcher.address) || asked.startsWith('data:'), asked);
      }
      // With readers at it, it ends when it is told to, and they are told that.
      const { code, text } = await watcher.end();
      assert.equal(code, 0, text);
      await pages[0].waitForFunction(() => /connection is lost/.test(document.querySelector('.status').textContent));
    },

    async 'what the reader has chosen stays when data come'() {
      const folder = join(temporary_folder(), 'run');
      const run = begin('run', 'lp', '--iterations', 1000000, '--metrics-every', 10, '--checkpoint-seconds', 0.2, '--threads', 1, '--out', folder);
      const watcher = await watch(folder);
      const page = await browser.open(watcher.address, { ready: false });
      await page.waitForSelector('body[data-ready]', { timeout: 120_000 });
      await page.locator('#curves').getByText('evaluations', { exact: true }).click();
      await page.locator('details.row > summary').first().click();
      const seen = Number(await page.getAttribute('body', 'data-ready'));
      await page.waitForFunction((before) => Number(document.body.dataset.ready) > before + 1, seen, { timeout: 120_000 });
      assert.equal(await page.evaluate(() => document.querySelector('#curves .chart').chart.getOption().xAxis[0].name), 'evaluations');
      assert.ok(await page.locator('details.row[open] tbody').isVisible());
      assert.deepEqual(page.problems, []);
      run.child.kill('SIGKILL');
      await Promise.all([run.ended, watcher.end()]);
    },

    async 'a page that is served can be kept as a file'() {
      const watcher = await watch(...runs);
      const page = await browser.open(watcher.address);
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Save this page').click()]);
      const file = join(temporary_folder(), download.suggestedFilename());
      await download.saveAs(file);
      const kept = await browser.open(`file://${file}`);
      assert.equal(await kept.textContent('.summary'), await page.textContent('.summary'));
      assert.deepEqual([...page.problems, ...kept.problems], []);
      await watcher.end();
    },

    async 'many readers at once'() {
      const watcher = await watch(...runs);
      const open = [];
      const firsts = await Promise.all(Array.from({ length: 100 }, () => new Promise((resolve, reject) => {
        open.push(get(`${watcher.address}events`, { agent: false }, (answer) => {
          assert.equal(answer.headers['content-type'], 'text/event-stream');
          answer.once('data', (data) => resolve(String(data).slice(0, 10)));
          answer.on('error', () => {});
        }).on('error', reject));
      })));
      assert.ok(firsts.every((text) => text === 'event: all'));
      const { code } = await watcher.end();
      assert.equal(code, 0);
      for (const one of open) one.destroy();
    },
  };
}
