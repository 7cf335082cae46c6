// Servers added and removed, tokens made and revoked, a tool tried, the record filtered, settings read.

import assert from 'node:assert/strict';

import { viewing } from './viewing.mjs';

export async function managing(stage) {
  await stage.setUp();
  await servers(stage);
  await tokens(stage);
  await catalog(stage);
  await audit(stage);
  await settings(stage);
  await viewing(stage);
}

async function servers(stage) {
  const { page } = stage;
  stage.expect(400, 422);
  await stage.view('servers', 'Servers');
  await page.getByText('Add a server', { exact: true }).click();
  const form = page.getByRole('form', { name: 'Add a server' });
  await form.getByLabel('Name').fill('odd');
  await form.getByLabel('Program').fill(process.execPath);
  await form.getByRole('button', { name: 'Add' }).click();
  await form.getByText('is taken by another server').waitFor();
  assert.equal(await form.getByLabel('Program').inputValue(), process.execPath, 'nothing is lost');
  await form.getByLabel('Name').fill('no name');
  await form.getByRole('button', { name: 'Add' }).click();
  await form.locator('.field', { hasText: 'has to be 1 to 32 characters' }).getByLabel('Name').waitFor();
  await form.getByLabel('Name').fill('second');
  await form.getByLabel('Arguments').fill(process.env.ODD_SERVER.split(' ').join('\n'));
  await form.getByRole('button', { name: 'Add' }).click();
  const row = page.getByRole('row').filter({ hasText: 'second' });
  await row.getByRole('link', { name: 'second' }).waitFor();
  await row.getByText('connected').waitFor();
  await stage.photograph('servers');
  await row.getByRole('link', { name: 'second' }).click();
  await page.getByRole('heading', { level: 1, name: 'second' }).waitFor();
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  await page.locator('dd').getByText('disabled').waitFor();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.locator('dd').getByText('connected', { exact: true }).waitFor();
  await stage.inspect('a server');
  await stage.photograph('server');
  await page.getByRole('button', { name: 'Restart' }).click();
  await page.getByText('restarted').waitFor();
  await page.getByRole('button', { name: 'Remove…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('heading', { level: 1, name: 'Servers' }).waitFor();
  await page.getByRole('link', { name: 'odd' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'second' }).count(), 0);
}

async function tokens(stage) {
  const { page } = stage;
  await stage.view('access', 'Access');
  await page.getByText('Make a token').click();
  const form = page.getByRole('form', { name: 'Make a token' });
  await form.getByLabel('Principal').fill('laptop');
  await form.getByLabel('Note').fill('a test');
  await form.getByRole('button', { name: 'Make' }).click();
  const dialog = page.getByRole('dialog');
  assert((await dialog.getByRole('textbox').inputValue()).length > 20);
  await stage.inspect('a new token');
  await dialog.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('table', { name: 'Tokens' }).getByRole('row').filter({ hasText: 'laptop' });
  await row.getByText('active').waitFor();
  await row.getByRole('button', { name: /Revoke/ }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await row.getByText('revoked').waitFor();
  assert.equal(await row.getByRole('button').count(), 0);
}

async function catalog(stage) {
  const { page } = stage;
  await stage.view('catalog', 'Catalog');
  await page.getByLabel('Search').fill('workspace read');
  await page.getByRole('link', { name: 'workspace_read', exact: true }).click();
  const form = page.getByRole('form', { name: 'Call workspace_read' });
  await form.getByRole('button', { name: 'Call' }).click();
  await form.getByText('is missing').waitFor();
  await form.getByLabel(/^path/).fill('a.txt');
  await form.getByRole('button', { name: 'Call' }).click();
  await page.getByRole('region', { name: 'Text of the result' }).getByText('first').waitFor();
  await stage.inspect('a tool');
  await stage.photograph('tool');
}

async function audit(stage) {
  const { page } = stage;
  await stage.call('workspace_list', {});
  await stage.view('audit', 'Audit');
  const rows = page
    .getByRole('table')
    .getByRole('row')
    .filter({ has: page.getByRole('cell') });
  await rows.filter({ hasText: 'workspace_list' }).first().waitFor();
  await page.getByLabel('Target').fill('tool:workspace_read');
  await page.getByRole('button', { name: 'Search' }).click();
  await rows.filter({ hasText: 'workspace_list' }).first().waitFor({ state: 'detached' });
  assert.equal(await rows.filter({ hasText: 'admin:ada' }).count(), 1);
  assert.match(page.url(), /target=tool%3Aworkspace_read/);
  const file = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export' }).click();
  assert.match(await (await file).suggestedFilename(), /audit/);
  await stage.inspect('the record, filtered');
}

async function settings(stage) {
  const { page } = stage;
  await stage.view('settings', 'Settings');
  await page.getByLabel('Search').fill('http.port');
  await page.getByRole('row').filter({ hasText: '--port' }).waitFor();
}
