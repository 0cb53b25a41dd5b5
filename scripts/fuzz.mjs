// The long run of server/test/fuzz.test.ts: `npm run fuzz -- --requests 100000 --seed 7`; `--path /v1/inbox` limits it to
// some operations. Without a seed it picks a new one and prints it.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(randomInt(1, 2 ** 31)) },
    path: { type: 'string', default: '' },
  },
})
for (const name of /** @type {const} */ (['requests', 'seed']))
  if (!/^\d{1,9}$|^[12]\d{9}$/.test(values[name])) {
    process.stderr.write(`--${name} must be a whole number; it is "${values[name]}".\n`)
    process.exit(1)
  }

const child = spawn('vitest', ['run', 'server/test/fuzz.test.ts'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
  env: { ...process.env, FUZZ_REQUESTS: values.requests, FUZZ_SEED: values.seed, FUZZ_PATH: values.path },
})
child.on('close', (code) => process.exit(code ?? 1))
