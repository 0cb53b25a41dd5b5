// The hosted page of preferences: with JavaScript, the element takes the form's place, and each switch is saved as it is moved.
// If anything fails, the form stays.
import type { Preference } from './data/api.ts'
import type { PreferencesElement } from './elements/inbox-element.ts'

async function begin(form: HTMLElement): Promise<void> {
  const answer = await fetch(`${location.pathname}/session`, { method: 'POST', credentials: 'omit' })
  if (!answer.ok) throw new Error(`The service answered ${answer.status}.`)
  const { token } = (await answer.json()) as { token: string }
  await customElements.whenDefined('belfry-preferences')
  const element = document.createElement('belfry-preferences') as PreferencesElement
  element.setAttribute('locale', document.documentElement.lang)
  element.options = { preferencesToken: token }
  // In the form's order: commercial workflows first, by category.
  const shown = [...form.querySelectorAll<HTMLInputElement>('input[name=shown]')].map(({ value }) => value)
  const place = ({ workflow }: Preference) => {
    const at = shown.findIndex((value) => value.replace(/:[^:]*$/, '') === workflow?.identifier)
    return at < 0 ? shown.length : at
  }
  element.preferencesSort = (one, other) => place(one) - place(other)
  // The element shows all of these, locked workflows too.
  for (const part of form.querySelectorAll('fieldset, #save, #always')) part.remove()
  // The element begins with headings of the third level.
  const heading = document.createElement('h2')
  heading.className = 'hidden'
  heading.textContent = document.title
  form.before(heading, element)
}

const form = document.getElementById('preferences')
if (form && !form.hasAttribute('data-plain'))
  begin(form).catch((error: unknown) => console.warn('The form stays:', error))
