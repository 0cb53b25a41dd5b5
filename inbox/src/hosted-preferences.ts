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
  // In the form's order, under its headings: commercial workflows first, by category.
  const places = new Map<string | undefined, { at: number; heading: string }>()
  for (const part of form.querySelectorAll('fieldset'))
    for (const { value } of part.querySelectorAll<HTMLInputElement>('input[name=shown]')) {
      const identifier = value.replace(/:[^:]*$/, '')
      const heading = part.querySelector('legend')?.textContent ?? ''
      if (!places.has(identifier)) places.set(identifier, { at: places.size, heading })
    }
  // Those that nobody can switch off come last.
  const always = { at: Number.MAX_SAFE_INTEGER, heading: form.querySelector('#always h2')?.textContent ?? '' }
  const placeOf = ({ workflow }: Preference) => places.get(workflow?.identifier) ?? always
  element.preferencesSort = (one, other) => placeOf(one).at - placeOf(other).at
  element.preferencesHeading = (preference) => placeOf(preference).heading
  // The element shows all of these, locked workflows too.
  for (const part of form.querySelectorAll('fieldset, #save, #always, #nothing')) part.remove()
  // The element begins with headings of the third level.
  const heading = document.createElement('h2')
  heading.className = 'hidden'
  heading.textContent = document.title
  form.before(heading, element)
}

const form = document.getElementById('preferences')
if (form && !form.hasAttribute('data-plain'))
  begin(form).catch((error: unknown) => console.warn('The form stays:', error))
