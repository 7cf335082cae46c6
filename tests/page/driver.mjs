// A real Chromium on the admin page: started, watched for errors, photographed, and looked at by axe.

import assert from 'node:assert/strict';
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { peerRequire } from '../peers/peer.mjs';

const { chromium } = peerRequire('playwright-core');
const axe = readFileSync(peerRequire.resolve('axe-core/axe.min.js'), 'utf8');

export const ACCOUNT = 'ada';
export const PASSWORD = 'correct horse battery';
// It only turns a hang into a failure.
const PATIENCE_MS = 60_000;
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

function program() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name))).find(runs);
  assert(found, 'there is no Chromium; `cargo xtask test` installs one');
  return found;
}

function runs(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A browser on a server's page. What the page should not have done is kept, and told by `end`. */
export class Stage {
  constructor({ base, link, out, route }) {
    Object.assign(this, { base, link, out, route, faults: [], expected: new Set(), over: new AbortController() });
  }

  async start(options = {}) {
    this.browser = await chromium.launch({ executablePath: program(), args: ['--no-sandbox', '--disable-gpu'] });
    this.context = await this.browser.newContext({
      viewport: { width: 1280, height: 800 },
      locale: 'en-GB',
      reducedMotion: 'reduce',
      bypassCSP: false,
      ...options,
    });
    this.context.setDefaultTimeout(PATIENCE_MS);
    this.page = await this.context.newPage();
    this.watch(this.page);
    await this.route?.(this.page);
    return this;
  }

  watch(page) {
    page.on('pageerror', (error) => this.faults.push(`the page threw: ${error.stack}`));
    page.on('console', (message) => {
      if (message.type() !== 'error') return;
      const status = /status of (\d+)/.exec(message.text())?.[1];
      if (!this.expected.has(Number(status))) this.faults.push(`on the console: ${message.text()} ${message.location().url}`);
    });
  }

  /** These statuses are part of what is tested: the browser writes each as an error. */
  expect(...statuses) {
    for (const status of statuses) this.expected.add(status);
  }

  async setUp() {
    const { page } = this;
    await page.goto(`${this.base}/admin#setup=${this.link}`);
    await page.getByLabel('Name').fill(ACCOUNT);
    await page.getByLabel('Password (required)', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Password, again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set up and log in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  }

  async logIn(password = PASSWORD) {
    await this.page.getByRole('heading', { name: 'Log in' }).waitFor();
    await this.page.getByLabel('Name').fill(ACCOUNT);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Log in' }).click();
  }

  /** Opens a view by its address, and waits until it is loaded. */
  async view(path, heading) {
    await this.page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${path}`);
    await this.page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await this.page.locator('main:not([aria-busy])').waitFor();
  }

  async photograph(name) {
    mkdirSync(this.out, { recursive: true });
    await this.page.evaluate(() => scrollTo(0, 0));
    await this.page.screenshot({ path: join(this.out, `${name}.png`), fullPage: true });
  }

  /** No serious finding of axe, and nothing that sticks out of the screen. */
  async inspect(name) {
    // The page's policy lets no script in; the driver's own way in is no part of the page.
    await this.page.evaluate(axe);
    const { violations } = await this.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    const told = grave.map(
      (one) =>
        `${one.id}: ${one.help}\n  ${one.nodes
          .slice(0, 4)
          .map((node) => `${node.html} ${node.failureSummary}`)
          .join('\n  ')}`,
    );
    if (told.length) this.faults.push(`axe on ${name}:\n${told.join('\n')}`);
    const wide = await this.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) this.faults.push(`${name} is ${wide} px wider than the screen`);
    const beyond = await this.page.evaluate(() =>
      [...document.querySelectorAll('.graph')].filter((card) => card.scrollWidth > card.clientWidth).map((card) => card.innerText),
    );
    if (beyond.length) this.faults.push(`on ${name} more is written than its card holds: ${beyond.join()}`);
  }

  /** A call of a tool by an MCP client; `session` is that of a connection. */
  async call(tool, args, session) {
    const message = { id: 1, method: 'tools/call', params: { name: tool, arguments: args } };
    const answer = await this.post(message, session);
    const text = await answer.text();
    const json = text.startsWith('{')
      ? text
      : text
          .split('\n')
          .filter((line) => line.startsWith('data: {'))
          .at(-1)
          .slice(6);
    return JSON.parse(json);
  }

  /** A client that connects and stays; its session. */
  async connect() {
    const clientInfo = { name: 'a test', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const answer = await this.post({ id: 0, method: 'initialize', params });
    await answer.text();
    const session = answer.headers.get('Mcp-Session-Id');
    await this.post({ method: 'notifications/initialized' }, session);
    return session;
  }

  post(message, session) {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    if (session) headers['Mcp-Session-Id'] = session;
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return fetch(`${this.base}/mcp`, { method: 'POST', headers, body, signal: this.over.signal });
  }

  async end() {
    // A call that still waits for a person would keep this process waiting, too.
    this.over.abort();
    await this.browser.close();
    assert.deepEqual(this.faults, []);
  }
}

/** Asks again until it is so. */
export async function until(what, is) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    if (await is()) return;
    assert(Date.now() < end, `it never happened: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}
