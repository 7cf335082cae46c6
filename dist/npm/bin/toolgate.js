#!/usr/bin/env node
// Starts the program that the package of this platform brings. Standard streams are its own, signals are passed on, and
// its end is our end.
"use strict";

const { spawn } = require("node:child_process");

const platform = `@toolgate/${process.platform}-${process.arch}`;

function program() {
  try {
    return require.resolve(`${platform}/bin/toolgate`);
  } catch {
    console.error(`error: the package \`${platform}\` is not installed`);
    console.error("hint: install without --omit=optional; if there is none for this platform, build Toolgate from source");
    process.exit(1);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGHUP", "SIGINT", "SIGTERM"];
const pass = (signal) => child.kill(signal);
for (const signal of signals) process.on(signal, pass);

child.on("error", (error) => {
  console.error(`error: cannot start the program: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  for (const signal of signals) process.off(signal, pass);
  if (signal) process.kill(process.pid, signal);
  else process.exit(code);
});
