// Bundles the command line tool into one file. `node cli/build.mjs <folder>`
import { chmodSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'

const here = import.meta.dirname
const [out = path.join(here, 'dist')] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync(path.join(here, '..', 'package.json'), 'utf8'))

/** What `belfry outbox install` runs. */
const outboxSql = ['0076-outbox.sql', '0086-outbox-commit.sql', '0100-strict.sql']
  .map((name) => readFileSync(path.join(here, '..', 'server', 'src', 'db', 'migrations', name), 'utf8'))
  .join('\n')

const bundle = await rolldown({
  input: path.join(here, 'src', 'main.ts'),
  platform: 'node',
  // A native driver, and one for another platform, which nobody has here.
  external: ['pg-native', 'pg-cloudflare'],
  transform: { define: { belfryVersion: JSON.stringify(version), belfryOutboxSql: JSON.stringify(outboxSql) } },
})
const file = path.join(out, 'belfry.mjs')
await bundle.write({ file, format: 'esm', codeSplitting: false, banner: '#!/usr/bin/env node', minify: true })
chmodSync(file, 0o755)
