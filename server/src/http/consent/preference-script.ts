// With JavaScript, the inbox's own preferences take the form's place: each switch is saved as it is moved. If anything fails, the
// form stays.

export const preferenceScript = `'use strict'
const form = document.getElementById('preferences')
const load = (src) => new Promise((resolve, reject) => {
  const script = document.createElement('script')
  Object.assign(script, { src, type: 'module', onload: resolve, onerror: reject })
  document.head.append(script)
})
const begin = async () => {
  const answer = await fetch(location.pathname + '/session', { method: 'POST', credentials: 'omit' })
  if (!answer.ok) throw new Error('no session')
  const { token } = await answer.json()
  await load('/inbox.js')
  await customElements.whenDefined('belfry-preferences')
  const element = document.createElement('belfry-preferences')
  element.setAttribute('locale', document.documentElement.lang)
  element.options = { backendUrl: location.origin, preferencesToken: token }
  form.querySelectorAll('fieldset, #save').forEach((part) => part.remove())
  form.before(element)
}
if (form && !form.hasAttribute('data-plain')) begin().catch((error) => console.warn('The form stays', error))
`
