// Access tokens: fetched, reused until they expire, and fetched again.
import { DeliveryError } from './delivery-error.ts'
import type { Tools } from './provider.ts'

/**
 * Calls `use` with the token of this name. If the vendor refuses a cached token, it was revoked early: try once more with a
 * new one, which shows whether the credentials are good. The refused request sent nothing, so nothing is sent twice.
 */
export async function withToken<Result>(
  { remember, forget }: Pick<Tools, 'remember' | 'forget'>,
  name: string,
  make: () => Promise<{ value: string; seconds: number }>,
  use: (token: string) => Promise<Result>,
): Promise<Result> {
  let isNew = false
  const makeNew = () => {
    isNew = true
    return make()
  }
  const token = await remember(name, makeNew)
  try {
    return await use(token)
  } catch (error) {
    if (!(error instanceof DeliveryError) || error.code !== 'unauthorized') throw error
    forget(name)
    if (isNew) throw error
    return use(await remember(name, makeNew))
  }
}
