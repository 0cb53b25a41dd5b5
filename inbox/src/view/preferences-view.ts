// The preferences page.
import type { Channel, Preference } from '../data/api.ts'
import type { Preferences } from '../data/preferences.ts'
import type { PushDevice } from '../data/push.ts'
import { type Child, h } from './dom.ts'
import { pushSection } from './push-view.ts'
import { scheduleSection } from './schedule-view.ts'
import { type PreferenceGroup, toggle, type Ui } from './ui.ts'

const order: Channel[] = ['in_app', 'email', 'push', 'sms', 'chat']
const searchFrom = 10

export interface PreferencesViewOptions {
  groups: PreferenceGroup[]
  /** Defaults to the order of creation. */
  sort?: ((a: Preference, b: Preference) => number) | undefined
  /** Hides some workflows. */
  filter?: ((preference: Preference) => boolean) | undefined
  /** Stands above the workflows that share it, in the order of `sort`. */
  heading?: ((preference: Preference) => string | undefined) | undefined
  push?: PushDevice | undefined
  /** Without the switches for all workflows at once. */
  hidesGeneral?: boolean
}

export class PreferencesView {
  readonly #ui: Ui
  readonly #options: PreferencesViewOptions
  readonly #preferences: Preferences
  readonly #stop: () => void
  readonly #open = new Set<string>()
  #search = ''

  constructor(ui: Ui, options: PreferencesViewOptions) {
    this.#ui = ui
    this.#options = options
    this.#preferences = ui.client.preferences()
    this.#stop = this.#preferences.subscribe(() => ui.update())
    void this.#preferences.load()
  }

  close(): void {
    this.#stop()
  }

  view(): Child {
    const { status, general, error } = this.#preferences.state
    const ui = this.#ui
    return h(
      'div',
      {
        key: 'preferences',
        class: 'scroller preferences',
        part: 'preferencesContainer',
        tabindex: 0,
        role: 'region',
        'aria-label': ui.t('preferences.title'),
      },
      [
        status === 'ready' && error && h('p', { class: 'problem inline', role: 'alert' }, ui.t('inbox.notSaved')),
        ...(status === 'failed'
          ? [this.#failed()]
          : status === 'loading' || !general
            ? [skeletons(ui)]
            : this.#content(general)),
      ],
    )
  }

  #failed(): Child {
    const ui = this.#ui
    return h('div', { class: 'notice', role: 'alert' }, [
      h('span', { class: 'notice-icon bad' }, ui.icon('error')),
      h('p', { class: 'notice-title' }, ui.t('inbox.error')),
      h(
        'button',
        { type: 'button', class: 'action secondary', onClick: () => void this.#preferences.load() },
        ui.t('inbox.retry'),
      ),
    ])
  }

  #content(general: Preference): Child[] {
    const ui = this.#ui
    const { sort, filter = () => true, hidesGeneral = false } = this.#options
    // One without channels has nothing to switch.
    const all = this.#preferences.state.workflows.filter(
      (each) => Object.keys(each.channels).length > 0 && filter(each),
    )
    const sorted = sort ? [...all].sort(sort) : all
    const wanted = this.#search.trim().toLocaleLowerCase()
    const matching = sorted.filter(
      ({ workflow }) => workflow && ui.nameOf(workflow).toLocaleLowerCase().includes(wanted),
    )
    if (all.length === 0 && Object.keys(general.channels).length === 0)
      return [h('div', { class: 'notice' }, h('p', { class: 'notice-title' }, ui.t('preferences.emptyNotice')))]
    return [
      !hidesGeneral &&
        h('section', { class: 'section', key: 'general' }, [
          h('h3', null, ui.t('preferences.global')),
          h('p', { class: 'hint' }, ui.t('preferences.global.hint')),
          this.#channels(general, (channels) => this.#preferences.setGeneral(channels), ui.t('preferences.global')),
        ]),
      pushSection(ui, this.#options.push),
      scheduleSection(ui, this.#preferences),
      h('section', { class: 'section', key: 'workflows' }, [
        h('h3', null, ui.t('preferences.workflows')),
        all.length > searchFrom && this.#searchField(),
        ...(matching.length === 0 ? [h('p', { class: 'hint' }, ui.t('preferences.noMatch'))] : this.#groups(matching)),
      ]),
    ]
  }

  #searchField(): Child {
    const label = this.#ui.t('preferences.search')
    return h('label', { class: 'search', key: 'search' }, [
      this.#ui.icon('search'),
      h('input', {
        type: 'search',
        placeholder: label,
        'aria-label': label,
        value: this.#search,
        onInput: ({ target }: Event) => {
          this.#search = (target as HTMLInputElement).value
          this.#ui.update()
        },
      }),
    ])
  }

  #groups(preferences: Preference[]): Child[] {
    const rest = new Set(preferences)
    const groups = this.#options.groups.flatMap(({ name, filter: { workflowIds = [], tags = [] } }) => {
      const members = preferences.filter(
        ({ workflow }) =>
          workflow &&
          (workflowIds.includes(workflow.id) ||
            workflowIds.includes(workflow.identifier) ||
            tags.some((tag) => workflow.tags?.includes(tag))),
      )
      for (const member of members) rest.delete(member)
      return members.length === 0 ? [] : [this.#group(name, members)]
    })
    const { heading = () => undefined } = this.#options
    let last: string | undefined
    const single = [...rest].flatMap((preference) => {
      const words = heading(preference)
      const isNew = words !== undefined && words !== last
      last = words
      return [isNew && h('h4', { key: `heading ${words}` }, words), this.#workflow(preference)]
    })
    return [...groups, ...single]
  }

  /** A group has one switch for all its members. */
  #group(name: string, members: Preference[]): Child {
    const id = `group ${name}`
    const changeable = members.filter(({ workflow }) => !workflow?.critical)
    const channels = Object.fromEntries(
      order
        .filter((channel) => changeable.some((each) => channel in each.channels))
        .map((channel) => [channel, changeable.some((each) => each.channels[channel])]),
    )
    const isMixed = (channel: Channel) => new Set(changeable.flatMap((each) => each.channels[channel] ?? [])).size > 1
    return this.#fold(id, name, summary(this.#ui, channels), [
      this.#channels(
        { level: 'template', enabled: true, channels },
        (chosen) => {
          const [channel] = Object.keys(chosen) as Channel[]
          const ids = changeable.flatMap(({ workflow, channels: own }) =>
            workflow && channel && channel in own ? [workflow.id] : [],
          )
          return this.#preferences.setWorkflows(ids, chosen)
        },
        name,
        isMixed,
      ),
      h(
        'div',
        { class: 'members' },
        members.map((member) => this.#workflow(member)),
      ),
    ])
  }

  #workflow(preference: Preference): Child {
    const ui = this.#ui
    const { workflow, channels } = preference
    if (!workflow) return null
    const name = ui.nameOf(workflow)
    const isLocked = workflow.critical
    return this.#fold(workflow.id, name, isLocked ? ui.icon('lock') : summary(ui, channels), [
      isLocked && h('p', { class: 'locked' }, ui.icon('lock'), ui.t('preferences.workflow.disabled.notice')),
      this.#channels(preference, (chosen) => this.#preferences.setWorkflow(workflow.id, chosen), name),
    ])
  }

  #fold(id: string, name: string, side: Child, content: Child[]): Child {
    const isOpen = this.#open.has(id)
    return h('div', { class: 'fold', key: id, part: 'workflowContainer' }, [
      h(
        'button',
        {
          type: 'button',
          class: 'fold-button',
          'aria-expanded': String(isOpen),
          onClick: () => {
            if (isOpen) this.#open.delete(id)
            else this.#open.add(id)
            this.#ui.update()
          },
        },
        h('span', { class: 'fold-name', part: 'workflowLabel', dir: 'auto' }, name),
        h('span', { class: 'fold-side' }, side),
        this.#ui.icon('down'),
      ),
      isOpen && h('div', { class: 'fold-content' }, content),
    ])
  }

  #channels(
    { channels, workflow }: Preference,
    change: (channels: { [channel in Channel]?: boolean }) => Promise<void>,
    name: string,
    isMixed: (channel: Channel) => boolean = () => false,
  ): Child {
    const ui = this.#ui
    return h(
      'div',
      { class: 'channels', part: 'channelsContainer', role: 'group', 'aria-label': name },
      order
        .filter((channel) => channel in channels)
        .map((channel) => {
          const label = ui.t(`preferences.channels.${channel}`)
          return h('div', { class: 'channel', key: channel }, [
            ui.icon(channel),
            h('span', { class: 'channel-name', part: 'channelName', 'aria-hidden': 'true' }, label),
            toggle({
              label: `${name}: ${label}`,
              isOn: channels[channel] === true,
              isLocked: workflow?.critical ?? false,
              isMixed: isMixed(channel),
              onChange: (isOn) => void change({ [channel]: isOn }),
            }),
          ])
        }),
    )
  }
}

/** The enabled channels, in a few words. */
function summary(ui: Ui, channels: Preference['channels']): string {
  const on = order.filter((channel) => channels[channel])
  if (on.length === 0) return ui.t('preferences.channels.off')
  return on.map((channel) => ui.t(`preferences.channels.${channel}`)).join(', ')
}

function skeletons(ui: Ui): Child {
  return h('div', { class: 'section', role: 'status', 'aria-label': ui.t('inbox.loading') }, [
    ...[1, 2, 3, 4].map(() =>
      h('div', { class: 'skeleton' }, h('span', { class: 'bones' }, h('span', { class: 'bone' }))),
    ),
  ])
}
