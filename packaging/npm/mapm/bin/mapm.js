#!/usr/bin/env node
// Starts the mapm that is built for this platform, a package of its own among the
// optional dependencies of this one; passes on signals and how it ended.
'use strict';
const { spawn } = require('node:child_process');
const { optionalDependencies } = require('../package.json');

function fail(because, hint) {
  console.error(`mapm: cannot start\n  because: ${because}\n  hint: ${hint}`);
  process.exit(1);
}

function program() {
  const name = `@mapm/${process.platform}-${process.arch}`;
  if (!(name in optionalDependencies))
    fail(`there is no mapm for ${process.platform} on ${process.arch}`,
         `there is one for ${Object.keys(optionalDependencies).map(n => n.slice(6)).join(' and ')}`);
  try {
    return require.resolve(`${name}/bin/mapm`);
  } catch {
    return fail(`the package ${name} is not installed`,
                'install mapm again with optional dependencies (without --omit=optional or --no-optional)');
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' });
child.on('error', e => fail(e.message, 'install mapm again'));
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
for (const signal of signals)
  process.on(signal, () => child.kill(signal));
child.on('exit', (status, signal) => {
  if (!signal)
    process.exit(status);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
