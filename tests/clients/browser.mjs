// A person at a real browser: headless Chromium, driven over the DevTools protocol. It takes one JSON object: `chromium`
// (its program), `profile` (a folder, which keeps its cookies), `name` (to sign in with), `url`. It opens the address,
// signs in and consents wherever a page has a form, follows pages that lead to others, and prints the last one: `url`, `title`, `text`, and `visited`.
import { spawn } from 'node:child_process';

const MAX_PAGES = 20;
const job = JSON.parse(process.argv[2]);
const browser = spawn(job.chromium, [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-sync',
  '--disable-background-networking', '--disable-component-update', '--no-default-browser-check', '--no-proxy-server',
  '--remote-debugging-port=0', `--user-data-dir=${job.profile}`, 'about:blank',
], { stdio: ['ignore', 'ignore', 'pipe'] });
process.on('exit', () => browser.kill());

const address = await new Promise((resolve, reject) => {
  let text = '';
  browser.stderr.on('data', (data) => {
    text += data;
    const found = /DevTools listening on (ws:\S+)/.exec(text);
    if (found) resolve(found[1]);
  });
  browser.on('exit', (code) => reject(new Error(`Chromium ended with ${code}: ${text}`)));
});

const socket = new WebSocket(address);
const waiting = new Map();
const listeners = [];
let last = 0;
await new Promise((resolve) => { socket.onopen = resolve; });
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.id) {
    const { resolve, reject } = waiting.get(message.id);
    message.error ? reject(new Error(message.error.message)) : resolve(message.result);
  } else listeners.forEach((listen) => listen(message));
};
const send = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
  waiting.set(last += 1, { resolve, reject });
  socket.send(JSON.stringify({ id: last, method, params, sessionId }));
});

const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
const visited = [];
let loads = 0;
let onLoad = () => {};
listeners.push(({ method, params }) => {
  if (method === 'Network.requestWillBeSent' && params.type === 'Document') visited.push(params.request.url);
  if (method === 'Page.loadEventFired') { loads += 1; onLoad(); }
});
await send('Page.enable', {}, sessionId);
await send('Network.enable', {}, sessionId);
const loaded = async (number) => { while (loads < number) await new Promise((resolve) => { onLoad = resolve; }); };
const evaluate = async (expression) => {
  const { result } = await send('Runtime.evaluate', { expression, returnByValue: true }, sessionId);
  return result.value;
};
const SHOWN = '({ url: location.href, title: document.title, text: document.body.innerText, '
  + 'hasForm: !!document.querySelector("form [type=submit]"), goesOn: !!document.querySelector("meta[http-equiv=refresh]") })';
const submit = (name) => `(() => {
  const login = document.querySelector('[name=login]');
  if (login) { login.value = ${JSON.stringify(name)}; document.querySelector('[name=password]').value = 'any'; }
  document.querySelector('form [type=submit]').click();
})()`;

await send('Page.navigate', { url: job.url }, sessionId);
for (let page = 1; page <= MAX_PAGES; page += 1) {
  await loaded(page);
  const shown = await evaluate(SHOWN) ?? { goesOn: true }; // between two pages there is nothing to see
  if (shown.goesOn) continue;
  if (!shown.hasForm) {
    console.log(JSON.stringify({ ...shown, visited }));
    break;
  }
  await evaluate(submit(job.name));
}
await send('Browser.close').catch(() => {});
process.exit(0);
