// "Notify me on this device": in the preferences, and once above the list. The browser asks only after a click.
import type { PushDevice } from '../data/push.ts'
import { type Child, h } from './dom.ts'
import { iconButton, type Ui } from './ui.ts'

const dismissed = 'belfry-push-dismissed'
const dismissedMs = 90 * 86_400_000

const turn = async (ui: Ui, push: PushDevice, isOn: boolean): Promise<void> => {
  const isDone = await (isOn ? push.turnOn() : push.turnOff())
  if (isDone) ui.tell(isOn ? 'push-on' : 'push-off')
}

/** Null where there is nothing to choose. */
export function pushSection(ui: Ui, push: PushDevice | undefined): Child {
  const { status = 'none', isBusy, hasFailed } = push?.state ?? {}
  if (!push || status === 'none' || status === 'unknown') return null
  const isOn = status === 'on'
  return h('section', { class: 'section', key: 'push' }, [
    h('h3', null, ui.t('push.title')),
    status === 'blocked'
      ? h('p', { class: 'hint' }, ui.t('push.blocked'))
      : h(
          'button',
          {
            type: 'button',
            class: `action ${isOn ? 'secondary' : 'primary'}`,
            part: 'push__button',
            'aria-pressed': String(isOn),
            disabled: isBusy,
            onClick: () => void turn(ui, push, !isOn),
          },
          ui.icon(isOn ? 'check' : 'bell'),
          ui.t(isOn ? 'push.turnOff' : 'push.turnOn'),
        ),
    hasFailed && h('p', { class: 'problem', role: 'alert' }, ui.t('push.failed')),
  ])
}

/** Above the list, until it is chosen or dismissed. */
export function pushBanner(ui: Ui, push: PushDevice | undefined): Child {
  if (push?.state.status !== 'off' || isDismissed()) return null
  return h('div', { class: 'banner', key: 'push-banner', part: 'push__banner' }, [
    ui.icon('bell'),
    h(
      'button',
      { type: 'button', class: 'text-button', disabled: push.state.isBusy, onClick: () => void turn(ui, push, true) },
      ui.t('push.turnOn'),
    ),
    h('span', { class: 'space' }),
    iconButton(ui, 'close', ui.t('push.dismiss'), () => {
      localStorage.setItem(dismissed, String(Date.now()))
      ui.update()
    }),
  ])
}

const isDismissed = () => Date.now() - Number(localStorage.getItem(dismissed) ?? 0) < dismissedMs
