// The signature on requests to a user's webhook provider: the lower-case hexadecimal HMAC-SHA256 of the body's bytes.
import { hmac } from './events.ts'

export const signed =
  (brand: string, key: string) =>
  ({ body }: { body: string }) => ({ [`x-${brand}-signature`]: hmac('sha256', key, body).toString('hex') })
