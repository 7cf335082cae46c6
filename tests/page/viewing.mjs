// Somebody who is invited as a viewer sees everything, and is offered nothing that they may not do.

import assert from 'node:assert/strict';

const OFFERED = /approve|reject|accept|forget|add|remove|revoke|make|invite|store|call|save|disable|restart|read them anew/i;
const VIEWS = {
  overview: 'Overview',
  approvals: 'Approvals',
  'catalog/workspace_write': 'workspace_write',
  servers: 'Servers',
  'servers/odd': 'odd',
  scripts: 'Scripts',
  'scripts/report.star': 'report.star',
  secrets: 'Secrets',
  access: 'Access',
  settings: 'Settings',
};

export async function viewing(stage) {
  const { page } = stage;
  await stage.view('access', 'Access');
  await page.getByText('Invite someone').click();
  const form = page.getByRole('form', { name: 'Invite someone' });
  await form.getByLabel('Name').fill('eve');
  await form.getByRole('button', { name: 'Make a link' }).click();
  const dialog = page.getByRole('dialog');
  const link = await dialog.getByRole('textbox').inputValue();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();

  await page.goto(link);
  await page.getByRole('heading', { name: 'Set up' }).waitFor();
  assert.equal(await page.getByLabel('Name').inputValue(), 'eve');
  await page.getByLabel('Password (required)', { exact: true }).fill('another horse battery');
  await page.getByLabel('Password, again').fill('another horse battery');
  await page.getByRole('button', { name: 'Set up and log in' }).click();
  await page.getByRole('link', { name: 'eve viewer' }).waitFor();
  const waiting = stage.call('workspace_write', { path: 'c.txt', content: 'x' });
  waiting.catch(() => {});
  for (const [path, heading] of Object.entries(VIEWS)) {
    await stage.view(path, heading);
    if (path === 'approvals') await page.getByRole('article').filter({ hasText: 'workspace_write' }).waitFor();
    const main = page.getByRole('main');
    assert.equal(await main.getByRole('button', { name: OFFERED }).count(), 0, path);
    assert.equal(await main.getByRole('form').count(), 0, path);
  }
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
}
