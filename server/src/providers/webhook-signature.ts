// How whoever runs a webhook that messages are delivered to can tell that a request is ours: the lower-case hexadecimal
// HMAC-SHA256 of the very bytes of its body.
import { hmac } from './events.ts'

export const signed =
  (brand: string, key: string) =>
  ({ body }: { body: string }) => ({ [`x-${brand}-signature`]: hmac('sha256', key, body).toString('hex') })
