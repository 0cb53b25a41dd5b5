// The folder of the whole project, seen from where the benchmarks are built to: bench/dist/bench/src.
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../..', import.meta.url))
