// Signing in to another server: by a browser on the same machine, by the address that one elsewhere ended at, and out.

import assert from 'node:assert/strict';

export async function signingIn(stage) {
  const { page } = stage;
  await stage.setUp();
  await stage.view('servers/cave', 'cave');
  const state = (word) => page.locator('dd').getByText(word, { exact: true }).waitFor();
  await state('needs auth');
  const dialog = page.getByRole('dialog');
  const begin = async () => {
    await page.getByRole('button', { name: 'Authorize…' }).click();
    return dialog.getByRole('link', { name: 'Sign in' });
  };

  const opened = stage.context.waitForEvent('page');
  const link = await begin();
  await stage.inspect('signing in');
  await stage.photograph('signing-in');
  await link.click();
  const tab = await opened;
  await state('connected');
  await tab.close();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await state('needs auth');

  const address = await (await begin()).getAttribute('href');
  const ended = (await fetch(address, { redirect: 'manual' })).headers.get('Location');
  await dialog.getByLabel('Address it ended at').fill(ended);
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('authorized: cave').waitFor();
  await state('connected');

  // What it has now that somebody may look is what it has at first.
  await stage.view('approvals', 'Approvals');
  await page.getByText('Every definition is what it was').waitFor();
  assert.equal(await page.getByRole('article').count(), 0);
}
