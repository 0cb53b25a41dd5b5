// The thread of simulations, bundled from its sources when a test first plays one.
import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { SimulationThread } from '../src/engine/simulation/simulations.ts'

let bundled: Promise<URL> | undefined

export const simulationThread: SimulationThread = {
  file: () => {
    bundled ??= bundle()
    return bundled
  },
  // Nobody notifies beside a test: it would only wait for the tests of other files.
  priority: 0,
  restFactor: 0,
}

async function bundle(): Promise<URL> {
  // Within the project, where it finds the packages that it loads later.
  const folder = mkdtempSync(fileURLToPath(new URL('../../node_modules/.simulation-', import.meta.url)))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const input = fileURLToPath(new URL('../src/engine/simulation/thread.ts', import.meta.url))
  const file = path.join(folder, 'simulation.cjs')
  const made = await rolldown({ input, platform: 'node' })
  await made.write({ file, format: 'cjs', codeSplitting: false })
  return pathToFileURL(file)
}
