// Second factors and proofs: requests, their cache keys, and the browser's part of passkeys.
import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import { auth, type Session } from './auth.ts'
import { cache } from './cache.ts'
import { type Answer, api, type Body } from './client.ts'

export type OwnFactors = Answer<'GET /v1/auth/factors'>
export type Passkey = OwnFactors['passkeys'][number]
export type AddedFactor = Answer<'POST /v1/auth/factors/app/confirm'>
export type SecondStep = Exclude<Answer<'POST /v1/auth/sign-in'>, Session>['secondStep']

/** Browsers have passkeys for host names over HTTPS and for localhost, not for IP addresses. */
export const canUsePasskeys = (): boolean =>
  browserSupportsWebAuthn() && window.isSecureContext && !/^[\d.]+$|:/.test(window.location.hostname)

/** The browser's words for a passkey that was not given are for programs. */
async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Error) || !['NotAllowedError', 'AbortError', 'InvalidStateError'].includes(error.name))
      throw error
    throw new Error(
      error.name === 'InvalidStateError'
        ? 'This device has a passkey for your account already.'
        : 'No passkey was given. Try again, or choose another way.',
      { cause: error },
    )
  }
}
type RegistrationOptions = Parameters<typeof startRegistration>[0]['optionsJSON']
type RequestOptions = Parameters<typeof startAuthentication>[0]['optionsJSON']
const answerOf = async (options: Record<string, unknown>) => ({
  ...(await asked(startAuthentication({ optionsJSON: options as unknown as RequestOptions }))),
})

export const factors = {
  own: () => queryOptions({ queryKey: ['factors'], queryFn: ({ signal }) => api('GET /v1/auth/factors', { signal }) }),

  beginApp: () => api('POST /v1/auth/factors/app'),
  confirmApp: (code: string) => api('POST /v1/auth/factors/app/confirm', { body: { code } }),
  removeApp: () => api('DELETE /v1/auth/factors/app'),
  addPasskey: async (name: string) => {
    const options = await api('POST /v1/auth/factors/passkeys/challenge')
    const passkey = await asked(startRegistration({ optionsJSON: options as unknown as RegistrationOptions }))
    return api('POST /v1/auth/factors/passkeys', { body: { name, passkey: { ...passkey } } })
  },
  renamePasskey: (passkeyId: string, name: string) =>
    api('PATCH /v1/auth/factors/passkeys/{passkeyId}', { path: { passkeyId }, body: { name } }),
  removePasskey: (passkeyId: string) => api('DELETE /v1/auth/factors/passkeys/{passkeyId}', { path: { passkeyId } }),
  newRecoveryCodes: () => api('POST /v1/auth/factors/recovery-codes'),

  secondStep: (body: Body<'POST /v1/auth/second-step'>) => api('POST /v1/auth/second-step', { body }),
  secondStepByPasskey: async (token: string) => {
    const options = await api('POST /v1/auth/passkey-challenge', { body: { token } })
    return api('POST /v1/auth/second-step', { body: { token, passkey: await answerOf(options) } })
  },
  signInByPasskey: async () => {
    const options = await api('POST /v1/auth/passkey-challenge', { body: {} })
    return api('POST /v1/auth/passkey-sign-in', { body: { passkey: await answerOf(options) } })
  },
  prove: (body: Body<'POST /v1/auth/proof'>) => api('POST /v1/auth/proof', { body }),
  proveByPasskey: async () => {
    const options = await api('POST /v1/auth/proof/challenge')
    return api('POST /v1/auth/proof', { body: { passkey: await answerOf(options) } })
  },
}

/** After any change of one's own factors. */
export const refreshFactors = () =>
  Promise.all(
    [factors.own().queryKey, auth.session().queryKey, auth.browsers().queryKey].map((queryKey) =>
      cache.invalidateQueries({ queryKey }),
    ),
  )
