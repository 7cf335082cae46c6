// Scripts: looked at, approved, changed behind somebody's back, rejected, edited; and code that waits.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(process.env.SCRIPTS ?? '', 'report.star');
const write = (source) => writeFileSync(FILE, source);
const run = async (stage) => {
  const { result } = await stage.call('script_run', { name: 'report' });
  return result.structuredContent?.result ?? result.content[0].text;
};

export async function scripting(stage) {
  const { page } = stage;
  stage.expect(409);
  await stage.setUp();
  await page.getByRole('link', { name: /Scripts 1 waiting/ }).waitFor();
  await stage.view('approvals', 'Approvals');
  await page.getByRole('link', { name: 'report.star' }).click();
  await page.getByRole('heading', { level: 1, name: 'report.star' }).waitFor();
  const state = (word) => page.locator('dd').getByText(word, { exact: true }).waitFor();
  await state('pending');
  assert.match(await run(stage), /pending approval/);
  await page.getByRole('button', { name: 'Approve as shown' }).click();
  await state('approved');
  assert.equal(await run(stage), 'first');

  await changed(stage, state);
  await tooLate(stage, state);
  await edited(stage, state);
  await code(stage, state);
  await made(stage, state);
}

// What changes in the folder shows by itself, letter by letter.
async function changed(stage, state) {
  const { page } = stage;
  write("# @description: Sum it up.\nresult = 'second\u202e'\n");
  await state('modified');
  const diff = page.getByRole('region', { name: 'Changes' });
  await diff.getByText("-result = 'first'").waitFor();
  await diff.getByText("+result = 'second\\u{202e}'").waitFor();
  await page.getByText('letters that nobody sees').waitFor();
  await stage.inspect('a changed script');
  await stage.photograph('a-changed-script');
  await page.getByLabel('Reason, if it is rejected').fill('it turns round');
  await page.getByRole('button', { name: 'Reject' }).click();
  await state('rejected');
  await page.getByText('it turns round').first().waitFor();
  assert.match(await run(stage), /it turns round/);
}

// It changes between the look and the click: what was not seen is not approved.
async function tooLate(stage, state) {
  const { page } = stage;
  write("result = 'harmless'\n");
  await page.getByText("+result = 'harmless'").waitFor();
  await page.route('**/scripts/report.star/approve', async (route) => {
    write("result = 'harmful'\n");
    await route.continue();
  });
  await page.getByRole('button', { name: 'Approve as shown' }).click();
  await page.getByText('is not what was looked at').first().waitFor();
  await page.unroute('**/scripts/report.star/approve');
  assert.match(await run(stage), /pending approval/);
  await page.getByText("+result = 'harmful'").waitFor();
  await state('pending');
}

async function edited(stage, state) {
  const { page } = stage;
  const source = page.getByLabel('Source');
  await source.fill("result = 'mine'\n");
  await page.getByRole('button', { name: 'Approve as shown' }).click();
  await page.getByText('save what you changed').waitFor();
  write("result = 'theirs'\n");
  await page.getByText('It has changed meanwhile.').waitFor();
  assert.equal(await source.inputValue(), "result = 'mine'\n", 'nothing is lost');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('is not what was looked at').waitFor();
  await page.getByRole('button', { name: 'Show what is there now' }).click();
  assert.equal(await source.inputValue(), "result = 'theirs'\n");
  await source.fill("result = 'mine'\n");
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('saved; it has to be approved').waitFor();
  await page.getByText("+result = 'mine'").waitFor();
  assert.match(await run(stage), /pending approval/);
  await page.getByRole('button', { name: 'Approve as shown' }).click();
  await state('approved');
  assert.equal(await run(stage), 'mine');
}

// Code that is no file waits, too.
async function code(stage, state) {
  const { page } = stage;
  const exec = () => stage.call('script_exec', { code: 'result = 6 * 7' });
  assert.equal((await exec()).result.isError, true);
  await stage.view('approvals', 'Approvals');
  await page.getByRole('link', { name: /^exec:/ }).click();
  await page.getByRole('button', { name: 'Approve as shown' }).click();
  await state('approved');
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
  assert.equal((await exec()).result.structuredContent.result, 42);
}

async function made(stage, state) {
  const { page } = stage;
  await stage.view('scripts', 'Scripts');
  const form = page.getByRole('form', { name: 'New script' });
  await form.getByLabel('Name').fill('report');
  await form.getByLabel('Source').fill("result = 'new'\n");
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('there is a script').waitFor();
  await form.getByLabel('Name').fill('another');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'another.star' }).waitFor();
  await state('pending');
}
