// What the server of `rarefy watch` answers to those who mean it well, or ill.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { watch } from './processes.mjs';

/// Sends text as it is, and gives all that comes back until the other side closes.
function raw(port, text, host = '127.0.0.1') {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => socket.write(text));
    let answer = '';
    socket.on('data', (data) => { answer += data; });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

export function server_tests({ runs }) {
  const with_server = (test) => async () => {
    const watcher = await watch(...runs);
    const port = Number(new URL(watcher.address).port);
    const ask = async (line, headers = {}, body = '') => {
      const all = { Host: `127.0.0.1:${port}`, Connection: 'close', ...headers };
      const text = await raw(port, `${line} HTTP/1.1\r\n${Object.entries(all).filter(([, value]) => value !== null).map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n${body}`);
      return { status: Number(text.split(' ')[1]), text };
    };
    await test({ ask, port, watcher });
    assert.equal((await ask('GET /')).status, 200, 'it goes on serving');
    const { code, text } = await watcher.end();
    assert.equal(code, 0, text);
  };
  return {
    'requests in the name of another host are refused': with_server(async ({ ask, port }) => {
      assert.equal((await ask('GET /', { Host: `localhost:${port}` })).status, 200);
      for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', `127.0.0.1:${port + 1}`, `127.0.0.1:${port}.evil.example`, '']) {
        for (const path of ['/', '/events', '/report.html', '/frames/0']) assert.equal((await ask(`GET ${path}`, { Host: host })).status, 403, `${host}${path}`);
      }
      assert.equal((await ask('GET /', { Host: null })).status, 400);
    }),
    'what is not there, or not done here, is told': with_server(async ({ ask }) => {
      for (const path of ['/nothing', '/frames/999', '/frames/-1', '/frames/x', '/frames/', '/../../etc/passwd', '/%2e%2e/etc/passwd', '//']) {
        assert.equal((await ask(`GET ${path}`)).status, 404, path);
      }
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
        const { status, text } = await ask(`${method} /`, { 'Content-Length': 2 }, '{}');
        assert.equal(status, 405, method);
        assert.match(text, /^Allow: GET, HEAD\r$/m);
      }
    }),
    'what is no request of HTTP does no harm': with_server(async ({ ask, port }) => {
      for (const text of ['garbage\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', '\0\0\0\0\r\n\r\n', `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`]) {
        assert.match(await raw(port, text).catch(() => 'HTTP/1.1 4'), /^HTTP\/1\.1 4\d\d|^HTTP\/1\.1 4/, text.slice(0, 20));
      }
      assert.equal((await ask('GET /', { 'X-Long': 'x'.repeat(20_000) })).status, 431);
      assert.equal((await ask('GET /', { 'Content-Length': 1_000_000 }, 'x')).status, 413);
      const silent = connect(port, '127.0.0.1'); // says nothing, and goes
      await new Promise((resolve) => { silent.on('connect', resolve); });
      silent.destroy();
    }),
    'HEAD has the header alone': with_server(async ({ ask }) => {
      const { text } = await ask('HEAD /');
      assert.match(text, /^Content-Length: \d{6}\r$/m);
      assert.ok(text.endsWith('\r\n\r\n'));
    }),
    'answers are nobody else\'s to keep, guess or frame': with_server(async ({ ask }) => {
      const { text } = await ask('GET /');
      for (const line of ['Cache-Control: no-store', 'X-Content-Type-Options: nosniff', 'X-Frame-Options: DENY', 'Cross-Origin-Resource-Policy: same-origin']) assert.ok(text.includes(`${line}\r\n`), line);
      assert.ok(!/Access-Control/i.test(text.split('\r\n\r\n')[0]));
    }),
    'nobody is answered at another address of this machine': with_server(async ({ port }) => {
      const others = Object.values(networkInterfaces()).flat().filter(({ family, internal }) => (family === 'IPv4' || family === 4) && !internal);
      for (const { address } of others) await assert.rejects(raw(port, 'GET / HTTP/1.1\r\n\r\n', address), /ECONNREFUSED/, address);
    }),
    'a port that is taken is told': async () => {
      const first = await watch(...runs);
      await assert.rejects(watch(...runs, '--port', new URL(first.address).port), /cannot listen at 127\.0\.0\.1, port \d+/);
      await first.end();
    },
  };
}
