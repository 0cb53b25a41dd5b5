// How a subscriber's choices change: globally, or for one workflow. Each set of contexts has choices of its own.
import type { ChannelChoices } from './tables.ts'

/** Where a question is asked if its step does not say. */
export const usualAskChannels: readonly string[] = ['in_app', 'email']

/** Of one set of contexts; without a workflow they are global, and only those have a schedule. */
export interface Choices {
  workflow_id: string | null
  channels: ChannelChoices
  schedule: Record<string, unknown> | null
}

interface Change {
  channels?: ChannelChoices | undefined
  schedule?: object | undefined
}

/**
 * Sets the given channels globally, and removes them from the choices for single workflows, so that the global one applies
 * everywhere; choices that are empty then are dropped. A schedule replaces the old one.
 */
export function chooseGlobally<Row extends Choices>(before: Row[], { channels = {}, schedule }: Change): Choices[] {
  const global = before.find(({ workflow_id }) => workflow_id === null)
  const names = Object.keys(channels)
  const others = before
    .filter(({ workflow_id }) => workflow_id !== null)
    .map((row) =>
      names.some((name) => name in row.channels) ? { ...row, channels: without(row.channels, names) } : row,
    )
  return [
    {
      workflow_id: null,
      channels: { ...global?.channels, ...channels },
      schedule: (schedule as Record<string, unknown> | undefined) ?? global?.schedule ?? null,
    },
    ...others.filter((row) => before.includes(row) || Object.keys(row.channels).length > 0),
  ]
}

const without = (channels: ChannelChoices, names: string[]): ChannelChoices =>
  Object.fromEntries(Object.entries(channels).filter(([name]) => !names.includes(name)))

/** Sets the given channels for one workflow. */
export function chooseForWorkflow<Row extends Choices>(
  before: Row[],
  workflowId: string,
  channels: ChannelChoices,
): Choices[] {
  const known = before.find(({ workflow_id }) => workflow_id === workflowId)
  const changed = { workflow_id: workflowId, channels: { ...known?.channels, ...channels }, schedule: null }
  return [...before.filter((row) => row !== known), changed]
}
