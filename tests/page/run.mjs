// Runs one scenario of the admin page: run.mjs SCENARIO ADDRESS LINK FOLDER-FOR-SCREENSHOTS

import { approving } from './approving.mjs';
import { Stage } from './driver.mjs';
import { gettingIn } from './getting_in.mjs';
import { looking } from './looking.mjs';
import { managing } from './managing.mjs';
import { scripting } from './scripting.mjs';
import { signingIn } from './signing_in.mjs';

const SCENARIOS = {
  getting_in: gettingIn,
  approving,
  managing,
  scripting,
  signing_in: signingIn,
  light: looking('light', { colorScheme: 'light' }),
  dark: looking('dark', { colorScheme: 'dark' }),
  narrow: looking('narrow', { colorScheme: 'dark', viewport: { width: 360, height: 740 } }),
};

const [name, base, link, out] = process.argv.slice(2);
const scenario = SCENARIOS[name];
const stage = await new Stage({ base, link, out }).start(scenario.options);
try {
  await scenario(stage);
} catch (error) {
  await stage.photograph(`failed-${name}`).catch(() => {});
  console.error(stage.faults.join('\n'));
  throw error;
}
await stage.end();
