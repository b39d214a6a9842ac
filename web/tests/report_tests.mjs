// The file that a report leaves: shown from a disk, without any server.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const series_of = (page, chart, type) => page.evaluate(([selector, kind]) => document.querySelector(selector).chart.getOption().series.filter((one) => one.type === kind).length, [chart, type]);
const first_chart = '#curves .chart';

function last_coverage(folder) {
  const [head, ...lines] = readFileSync(join(folder, 'metrics.csv'), 'utf8').trim().split('\n').map((line) => line.split(','));
  return 100 * Number(lines.at(-1)[head.indexOf('coverage')]);
}

export function report_tests({ browser, report, ablation, made_up, runs }) {
  return {
    async 'a report renders without errors and asks nobody for anything'() {
      const page = await browser.open(report);
      for (const part of ['results', 'curves', 'heatmaps', 'trials']) assert.ok(await page.isVisible(`#${part}`), part);
      assert.ok(!(await page.isVisible('#ablation')));
      assert.equal(await page.locator('#curves .chart canvas').count(), 5); // lp: 2; maze with energy: 3
      assert.match(await page.textContent('.summary'), /^8 trials of 2 algorithms on 2 domains: 2 seeds each, 40 iterations; all are finished\.$/);
      assert.deepEqual(page.problems, []);
      assert.deepEqual(page.requests.filter((one) => !one.startsWith('data:')), [report]);
    },

    async 'the table has the mean and standard error of what the runs wrote'() {
      const page = await browser.open(report);
      const [a, b] = runs.map(last_coverage);
      const cell = await page.locator('#results tbody tr', { hasText: 'dds-kde' }).locator('td').first().locator('strong, span').first().textContent();
      assert.match(cell, /^\d+\.\d\d ± \d+\.\d\d$/);
      const [mean, error] = cell.split(' ± ').map(Number);
      // Half of the last digit: a mean may lie in the middle between two, and be rounded either way.
      const close = (shown, exact) => assert.ok(Math.abs(shown - exact) < 0.005 + 1e-9, `${shown} is shown for ${exact}`);
      close(mean, (a + b) / 2);
      close(error, Math.abs(a - b) / 2);
      await page.getByText('median and quartiles').click();
      assert.match(await page.locator('#results tbody td').first().locator('strong, span').first().textContent(), / \(.* to .*\)$/);
      await page.locator('#results').getByText('cross-entropy', { exact: true }).click();
      assert.match(await page.textContent('#results .caption'), /^Cross-entropy/);
      assert.deepEqual(page.problems, []);
    },

    async 'the legend takes a curve away and gives it back'() {
      const page = await browser.open(report);
      assert.equal(await series_of(page, first_chart, 'line'), 2);
      const button = page.locator('.legend button', { hasText: 'dds-kde' });
      await button.click();
      assert.equal(await button.getAttribute('aria-pressed'), 'false');
      assert.equal(await series_of(page, first_chart, 'line'), 1);
      await button.press('Enter'); // a keyboard does as well, and the focus has stayed
      assert.equal(await series_of(page, first_chart, 'line'), 2);
      assert.deepEqual(page.problems, []);
    },

    async 'the axis goes over iterations, evaluations or seconds'() {
      const page = await browser.open(report);
      const axis = () => page.evaluate((selector) => {
        const { name, max } = document.querySelector(selector).chart.getOption().xAxis[0];
        return { name, max };
      }, first_chart);
      assert.deepEqual(await axis(), { name: 'iterations', max: 40 });
      await page.getByText('evaluations', { exact: true }).click();
      assert.deepEqual(await axis(), { name: 'evaluations', max: 40 * 540 });
      await page.locator('#curves').getByText('seconds', { exact: true }).click();
      assert.equal((await axis()).name, 'processor seconds of search');
      assert.deepEqual(page.problems, []);
    },

    async 'the band is of the standard error, of quartiles, or none'() {
      const page = await browser.open(report);
      assert.equal(await series_of(page, first_chart, 'custom'), 2);
      await page.locator('#curves').getByText('none', { exact: true }).click();
      assert.equal(await series_of(page, first_chart, 'custom'), 0);
      await page.locator('#curves').getByText('quartiles', { exact: true }).click();
      assert.equal(await series_of(page, first_chart, 'custom'), 2);
    },

    async 'a pointer over a chart shows values'() {
      const page = await browser.open(report);
      const chart = page.locator(first_chart).first();
      await chart.scrollIntoViewIfNeeded();
      const box = await chart.boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.move(box.x + box.width / 2 + 3, box.y + box.height / 2);
      await page.waitForSelector('.tip table');
      assert.match(await page.textContent('.tip'), /\d+ iterations.*dds-kde\d+\.\d\d %± \d/s);
      assert.deepEqual(page.problems, []);
    },

    async 'the slider moves the heat maps, by keys as well, and they play'() {
      const page = await browser.open(report);
      assert.equal(await page.locator('canvas.heatmap').count(), 4);
      const picture = () => page.evaluate(() => [...document.querySelectorAll('canvas.heatmap')].map((canvas) => canvas.toDataURL()).join());
      const at_end = await picture();
      assert.equal(await page.textContent('#heatmaps output'), 'iteration 40');
      await page.locator('#iteration').focus();
      await page.keyboard.press('Home');
      assert.equal(await page.textContent('#heatmaps output'), 'iteration 2');
      const at_begin = await picture();
      assert.notEqual(at_begin, at_end);
      await page.keyboard.press('ArrowRight');
      assert.notEqual(await page.textContent('#heatmaps output'), 'iteration 2');
      await page.keyboard.press('Home');
      await page.click('#play');
      await page.waitForFunction(() => document.querySelector('#heatmaps output').textContent === 'iteration 40');
      assert.equal(await picture(), at_end);
      assert.equal(await page.getAttribute('#play', 'aria-label'), 'Play');
      assert.deepEqual(page.problems, []);
    },

    async 'a pointer over a heat map says what a cell holds'() {
      const page = await browser.open(report);
      await page.locator('canvas.heatmap').first().hover();
      assert.match(await page.textContent('.tip.floating'), /feature 1 .*, feature 2 .*visits of the cell: about \d/);
    },

    async 'the walls of the maze are drawn'() {
      const page = await browser.open(report);
      const black = await page.evaluate(() => {
        const canvas = document.querySelector('canvas.heatmap[aria-label*="aze"]');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i] + data[i + 1] + data[i + 2] < 30) ++count;
        return count;
      });
      assert.ok(black > 300, `${black} black pixels`);
    },

    async 'themes: as the system has it, and by the button'() {
      const looks = async (page) => {
        const [theme, ground, picture] = await page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.documentElement).backgroundColor, document.querySelector('canvas.heatmap').toDataURL()]);
        return [theme, ground, createHash('sha256').update(picture).digest('hex')];
      };
      const light = await browser.open(report);
      const dark = await browser.open(report, { dark: true });
      const [one, other] = [await looks(light), await looks(dark)];
      assert.deepEqual([one[0], other[0]], ['light', 'dark']);
      for (const i of [1, 2]) assert.notEqual(one[i], other[i]);
      await light.click('#theme');
      assert.deepEqual(await looks(light), other);
      await light.click('#theme');
      assert.deepEqual(await looks(light), one);
      assert.deepEqual([...light.problems, ...dark.problems], []);
    },

    async 'nothing is wider than a phone, or a table, or a desk'() {
      for (const address of [report, ablation, made_up]) {
        for (const width of [360, 768, 1600]) {
          const page = await browser.open(address, { width });
          for (const details of await page.locator('details.row > summary').all()) await details.click();
          const [wanted, there] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
          assert.ok(wanted <= there, `${address} at ${width}: ${wanted} wide`);
          await page.context().close();
        }
      }
    },

    async 'configuration and command of a trial, with a button that copies'() {
      const page = await browser.open(report);
      await page.locator('details.row > summary').first().click();
      assert.match(await page.locator('details.row tbody code').first().textContent(), /^rarefy run lp .*--seed 1/);
      await page.locator('.command .copy').first().click();
      await page.waitForFunction(() => document.querySelector('.command .copy').textContent === 'copied');
      await page.locator('details.config > summary').first().click();
      assert.match(await page.locator('details.config pre').first().textContent(), /algorithm = /);
      assert.deepEqual(page.problems, []);
    },

    async "an ablation has a logarithmic axis, a point for every value, the paper's, and error bars"() {
      const page = await browser.open(ablation);
      const { type, points, bars, paper } = await page.evaluate(() => {
        const { xAxis, series } = document.querySelector('#ablation .chart').chart.getOption();
        return { type: xAxis[0].type, points: series[0].data.map(([x]) => x), bars: series.filter((one) => one.type === 'custom').length, paper: series[1].data };
      });
      assert.equal(type, 'log');
      assert.deepEqual(paper.map(([x]) => x), [0.1, 0.5]); // which has no 0.02
      assert.match(await page.textContent('#ablation .key'), /the paper's/);
      assert.deepEqual(points, [0.02, 0.1, 0.5]);
      assert.equal(bars, 1);
      assert.deepEqual(page.problems, []);
    },

    async 'failures, comparisons, the paper and notes are shown; names are never taken for HTML'() {
      const page = await browser.open(made_up);
      assert.match(await page.textContent('.failures'), /1 trial failed.*bandwidth: <img/s);
      assert.match(await page.textContent('.notes'), /a note: <img/);
      assert.match(await page.textContent('h1'), /^<img/);
      assert.equal(await page.locator('img').count(), 0);
      assert.match(await page.textContent('#results'), /paper 67\.67 ± 0\.12/);
      assert.match(await page.textContent('#comparisons'), /ANOVA: F\(1, 3\) = 12\.50, p = 0\.038Welch's ANOVA: F\(1, 1\.7\) = 9\.100, p = 0\.110/);
      assert.equal(await page.locator('#comparisons td.more').count(), 1);
      await page.getByText('Games-Howell').click();
      assert.equal(await page.locator('#comparisons td.more').count(), 0);
      assert.equal(await page.locator('#curves .chart').count(), 5); // a QD score where objectives vary
      assert.deepEqual(page.problems, []);
    },

    async 'everything that can be used has a name, and shows where the focus is'() {
      const page = await browser.open(report);
      const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, a, canvas.heatmap, .chart, [role=region]')]
        .filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim() || one.closest('label'))).map((one) => one.outerHTML));
      assert.deepEqual(nameless, []);
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'theme');
      assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
    },
  };
}
