// A subscriber's preferences: workflows, channels, schedule. Changes show at once and roll back if refused.
import type { Api, Channel, InboxError, Preference, Schedule } from './api.ts'
import { Store } from './store.ts'

export interface PreferencesState {
  status: 'loading' | 'ready' | 'failed'
  general?: Preference | undefined
  /** One per workflow, including those that cannot be changed. */
  workflows: Preference[]
  /** The subscriber's timezone, which the schedule uses. UTC if not set. */
  timezone?: string | undefined
  error?: InboxError | undefined
}

type Choices = { [channel in Channel]?: boolean }

export class Preferences extends Store<PreferencesState> {
  readonly #api: Api
  #queue: Promise<unknown> = Promise.resolve()

  constructor(api: Api) {
    super({ status: 'loading', workflows: [] })
    this.#api = api
  }

  async load(): Promise<void> {
    this.set({ status: 'loading', error: undefined })
    try {
      const [{ data }, { data: own }] = await Promise.all([
        this.#api.call<{ data: Preference[] }>('GET', '/preferences?criticality=all'),
        this.#api.call<{ data: { timezone?: string } }>('GET', '/subscriber'),
      ])
      const [general, ...workflows] = data
      this.set({ status: 'ready', general, workflows, timezone: own.timezone })
    } catch (error) {
      this.set({ status: 'failed', error: error as InboxError })
    }
  }

  /** Overrides all workflows, whatever was chosen for each before. */
  setGeneral(channels: Choices): Promise<void> {
    const { general, workflows } = this.state
    if (!general) return Promise.resolve()
    const next = {
      general: { ...general, channels: { ...general.channels, ...channels } },
      workflows: workflows.map((each) => (each.workflow?.critical ? each : choose(each, channels))),
    }
    return this.#change(next, 'PATCH', '/preferences', channels)
  }

  setWorkflow(workflowId: string, channels: Choices): Promise<void> {
    return this.#change(
      { workflows: this.#withChoices([workflowId], channels) },
      'PATCH',
      `/preferences/${workflowId}`,
      channels,
    )
  }

  /** Changes several workflows together. */
  setWorkflows(workflowIds: string[], channels: Choices): Promise<void> {
    const preferences = workflowIds.map((workflowId) => ({ workflowId, ...channels }))
    return this.#change({ workflows: this.#withChoices(workflowIds, channels) }, 'PATCH', '/preferences/bulk', {
      preferences,
    })
  }

  setSchedule(schedule: Schedule): Promise<void> {
    const { general } = this.state
    return this.#change(general ? { general: { ...general, schedule } } : {}, 'PATCH', '/preferences', { schedule })
  }

  setTimezone(timezone: string): Promise<void> {
    return this.#change({ timezone }, 'PATCH', '/subscriber', { timezone })
  }

  #withChoices(ids: string[], channels: Choices): Preference[] {
    return this.state.workflows.map((each) => (ids.includes(each.workflow?.id ?? '') ? choose(each, channels) : each))
  }

  async #change(next: Partial<PreferencesState>, method: string, path: string, body: object): Promise<void> {
    const names = Object.keys(next) as Array<keyof PreferencesState>
    const before = Object.fromEntries(names.map((name) => [name, this.state[name]]))
    this.set({ ...next, error: undefined })
    // One after another: if a switch is pressed twice, the last state wins.
    const turn = this.#queue.then(() => this.#api.call(method, path, { body }))
    this.#queue = turn.catch(() => undefined)
    try {
      await turn
    } catch (error) {
      this.set({ ...before, error: error as InboxError })
    }
  }
}

/** Ignores channels that the workflow does not have. */
function choose(preference: Preference, channels: Choices): Preference {
  const chosen = Object.entries(channels).filter(([name]) => name in preference.channels)
  return { ...preference, channels: { ...preference.channels, ...Object.fromEntries(chosen) } }
}
