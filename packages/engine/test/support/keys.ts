import { createHash } from 'node:crypto'
import type { EncryptionKey, EncryptionOptions } from 'millrace'

/** A key that is the same for the same id, so that two rings of a test agree about it. */
export const keyOf = (id: string): EncryptionKey => ({ id, key: createHash('sha256').update(id).digest() })

/** The first encrypts. */
export const ringOf = (...ids: string[]): EncryptionOptions => ({
  keys: ids.map(keyOf),
  lookupKey: keyOf('lookup').key,
})
