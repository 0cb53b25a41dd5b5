// Tokens that are asked for, used for a while and asked for again.
import { DeliveryError } from './delivery-error.ts'
import type { Tools } from './provider.ts'

/**
 * What `use` makes of the token of this name. A remembered one that is refused was taken back early: the same is tried once
 * more with a new one, which says whether the credentials themselves are good. Nothing was taken before, so nothing is twice.
 */
export async function withToken<Result>(
  { remember, forget }: Pick<Tools, 'remember' | 'forget'>,
  name: string,
  make: () => Promise<{ value: string; seconds: number }>,
  use: (token: string) => Promise<Result>,
): Promise<Result> {
  let isNew = false
  const makeNoted = () => {
    isNew = true
    return make()
  }
  const token = await remember(name, makeNoted)
  try {
    return await use(token)
  } catch (error) {
    if (!(error instanceof DeliveryError) || error.code !== 'unauthorized') throw error
    forget(name)
    if (isNew) throw error
    return use(await remember(name, makeNoted))
  }
}
