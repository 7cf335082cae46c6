// Every view, in one theme and one width: photographed, looked at by axe, and no wider than the screen.

import assert from 'node:assert/strict';

const VIEWS = {
  overview: 'Overview',
  approvals: 'Approvals',
  catalog: 'Catalog',
  'catalog/workspace_write': 'workspace_write',
  servers: 'Servers',
  'servers/odd': 'odd',
  scripts: 'Scripts',
  'scripts/report.star': 'report.star',
  secrets: 'Secrets',
  access: 'Access',
  audit: 'Audit',
  settings: 'Settings',
  account: 'Your account',
};
const DARK = 0.2;

export const looking = (name, options) =>
  Object.assign(
    async (stage) => {
      const { page } = stage;
      await stage.setUp();
      for (let calls = 0; calls < 5; calls += 1) await stage.call('workspace_list', {});
      await stage.call('workspace_read', { path: 'none.txt' });
      const waiting = stage.call('workspace_write', { path: 'b.txt', content: 'text\n'.repeat(3) });
      await page.locator('.badge:not([hidden])').first().waitFor({ state: 'attached' });
      for (const [path, heading] of Object.entries(VIEWS)) {
        await stage.view(path, heading);
        await stage.inspect(`${path}, ${name}`);
        await stage.photograph(`${name}-${path.replace('/', '-')}`);
      }
      await byKeyboard(stage);
      if (!options.viewport) await themes(stage, options.colorScheme);
      await stage.view('approvals', 'Approvals');
      await page.getByRole('button', { name: 'Approve once' }).click();
      await waiting;
    },
    { options },
  );

// From the top of the page, the keyboard alone reaches a view.
async function byKeyboard(stage) {
  const { page } = stage;
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  const menu = page.getByRole('button', { name: 'Menu' });
  if (await menu.isVisible()) {
    await menu.focus();
    await page.keyboard.press('Enter');
  }
  await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Audit', 'focus goes to the heading');
}

// The system's theme is used, until somebody chooses another, which is kept.
async function themes(stage, scheme) {
  const { page } = stage;
  const isDark = () =>
    page
      .evaluate(() => {
        const [red, green, blue] = getComputedStyle(document.body)
          .backgroundColor.match(/[\d.]+/g)
          .map(Number);
        return (red + green + blue) / 3 / 255;
      })
      .then((light) => light < DARK);
  assert.equal(await isDark(), scheme === 'dark');
  const other = scheme === 'dark' ? 'light' : 'dark';
  await page.getByLabel('Theme').selectOption(other);
  assert.equal(await isDark(), other === 'dark');
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  assert.equal(await isDark(), other === 'dark');
}
