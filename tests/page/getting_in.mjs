// Set-up, wrong passwords, log-in, log-out, and a login that ends under somebody's hands.

import assert from 'node:assert/strict';

import { ACCOUNT, PASSWORD } from './driver.mjs';

export async function gettingIn(stage) {
  const { page } = stage;
  stage.expect(401, 422, 429, 403);
  await page.goto(`${stage.base}/admin`);
  await page.getByText('There is no account yet.').waitFor();
  await stage.photograph('no-account');
  await stage.inspect('no account');

  await weakPasswords(stage);
  await stage.setUp();
  assert.equal(new URL(page.url()).hash, '', 'the link has left the address');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await stage.inspect('log in');

  await page.goto(`${stage.base}/admin#/secrets`);
  await page.reload();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await stage.logIn();
  await page.getByRole('heading', { name: 'Secrets', exact: true }).waitFor();

  await lostLogin(stage);
  await wrongPasswords(stage);
}

async function weakPasswords(stage) {
  const { page } = stage;
  await page.goto(`${stage.base}/admin#setup=${stage.link}`);
  await page.getByRole('button', { name: 'Set up and log in' }).click();
  assert.equal(await page.getByText('is missing').count(), 3, 'what is missing is told beside each field');
  await page.getByLabel('Name').fill(ACCOUNT);
  await page.getByLabel('Password (required)', { exact: true }).fill('short');
  await page.getByLabel('Password, again').fill('shirt');
  await page.getByRole('button', { name: 'Set up and log in' }).click();
  await page.getByText('is not the same').waitFor();
  await page.getByLabel('Password, again').fill('short');
  await page.getByRole('button', { name: 'Set up and log in' }).click();
  const invalid = page.locator('[aria-invalid=true]');
  await invalid.waitFor();
  assert.equal(await invalid.getAttribute('name'), 'password');
  assert.equal(await page.getByLabel('Name').inputValue(), ACCOUNT, 'nothing is lost');
  await stage.photograph('set-up');
  await stage.inspect('set-up');
}

// Whoever loses the login in the middle of something goes on where they were.
async function lostLogin(stage) {
  const { page } = stage;
  await page.getByLabel('Name').fill('HALF_WRITTEN');
  await page.getByLabel('Value').fill('a value of some length');
  await stage.context.clearCookies();
  // Whatever the page asks next finds out; that may be something else than this.
  await page.evaluate(() => document.querySelector('form[aria-label="Store a secret"]').requestSubmit());
  await page.getByText('Your login has ended.').waitFor();
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Secrets', exact: true }).waitFor();
  assert.equal(await page.getByLabel('Name').inputValue(), 'HALF_WRITTEN');
  await page.getByRole('button', { name: 'Store' }).click();
  await page.getByRole('cell', { name: 'HALF_WRITTEN', exact: true }).waitFor();
}

async function wrongPasswords(stage) {
  const { page } = stage;
  await page.getByRole('button', { name: 'Log out' }).click();
  const throttled = page.getByText(/try again in \d+ s/);
  for (let tries = 0; tries < 12 && !(await throttled.count()); tries += 1) {
    await stage.logIn('wrong');
    await page.getByRole('alert').filter({ hasText: /./ }).waitFor();
    await page.locator('form:not([aria-busy])').waitFor();
  }
  await throttled.waitFor();
  assert.equal(await page.getByLabel('Name').inputValue(), ACCOUNT);
  await stage.photograph('throttled');
}
