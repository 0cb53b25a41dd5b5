// The whole API: one line per resource.
import { contexts } from './contexts.ts'
import { health } from './health.ts'
import type { Resource } from './resource.ts'
import { subscribers } from './subscribers.ts'

export const resources: Resource[] = [health, contexts, subscribers]
