// Builds what browsers load: `inbox.js`, a single script for plain pages; in `inbox/` the same as modules; types for both;
// and the language files. `node inbox/build.mjs <folder>`
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const here = path.dirname(fileURLToPath(import.meta.url))
const [out = path.join(here, 'dist')] = process.argv.slice(2)
const source = (/** @type {string} */ name) => path.join(here, 'src', name)
const minify = { compress: true, mangle: true, codegen: true }
/** Drops indentation and blank lines from style sheets. */
const squeezeStyles = {
  name: 'styles',
  transform: (/** @type {string} */ code, /** @type {string} */ id) =>
    id.endsWith('styles.ts') ? code.replaceAll(/\s*\n\s*/g, '\n') : null,
}

for (const folder of ['inbox', 'types']) rmSync(path.join(out, folder), { recursive: true, force: true })
const script = await rolldown({ input: source('main.ts'), platform: 'browser', plugins: [squeezeStyles] })
await script.write({ file: path.join(out, 'inbox.js'), format: 'iife', name: 'Belfry', minify })

const pages = {
  'demo.ts': 'inbox/demo.js',
  'hosted-preferences.ts': 'inbox/hosted-preferences.js',
  'push-worker.ts': 'push-worker.js',
}
for (const [name, file] of Object.entries(pages)) {
  const page = await rolldown({ input: source(name), platform: 'browser' })
  await page.write({ file: path.join(out, file), format: 'iife', minify })
}

const modules = await rolldown({
  input: { client: source('headless.ts'), elements: source('main.ts'), react: source('react.tsx') },
  platform: 'browser',
  external: [/^react(\/|$)/],
  plugins: [squeezeStyles],
})
await modules.write({
  dir: path.join(out, 'inbox'),
  format: 'esm',
  minify,
  chunkFileNames: '[name]-[hash].js',
})

mkdirSync(path.join(out, 'inbox'), { recursive: true })
for (const file of readdirSync(source('languages'))) {
  const texts = JSON.parse(readFileSync(source(`languages/${file}`), 'utf8'))
  writeFileSync(path.join(out, 'inbox', file), JSON.stringify(texts))
}

const compiler = path.join(here, '..', 'node_modules', 'typescript', 'bin', 'tsc')
const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', path.join(out, 'types')]
const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', here, ...options], { encoding: 'utf8' })
if (status !== 0) {
  process.stderr.write(stdout)
  process.exit(1)
}
for (const file of readdirSync(path.join(out, 'types'), { encoding: 'utf8', recursive: true }))
  if (file.includes('.test.')) rmSync(path.join(out, 'types', file))
