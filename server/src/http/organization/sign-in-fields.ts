// The fields of sign-in requests.
import { Type } from 'typebox'
import { violatedKey } from '../../db/core/database.ts'
import { fail } from '../../errors.ts'
import { leastLength } from './passwords.ts'

export const Token = Type.String({ minLength: 1, maxLength: 200, description: 'The part of the link after the #' })
/** passwords.ts checks the rest, and reports it under the name of the field. */
export const Password = Type.String({ maxLength: 1_000, description: `At least ${leastLength} characters` })
export const PersonName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' })
export const Email = Type.String({ format: 'email', maxLength: 254 })

/** An address has one account; turns a violation into the right error. */
export async function explainingTakenEmail<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (violatedKey(error) === 'users_email') throw fail('email_taken')
    throw error
  }
}
