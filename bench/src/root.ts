// The project folder, relative to the built benchmarks: bench/dist/bench/src.
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../..', import.meta.url))
