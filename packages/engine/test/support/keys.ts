import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import type { EncryptionKey, EncryptionOptions } from 'millrace'

/** A key that is the same for the same id, so that two rings of a test agree about it. */
export const keyOf = (id: string): EncryptionKey => ({ id, key: createHash('sha256').update(id).digest() })

/** The first encrypts. */
export const ringOf = (...ids: string[]): EncryptionOptions => ({
  keys: ids.map(keyOf),
  lookupKey: keyOf('lookup').key,
})

/** As versions wrote it that bound values to type and path alone: under this key, of type "care". */
export function sealedBefore(
  value: unknown,
  { id = 'a', place = ['payload', 'care', 'card', 'number'] }: { id?: string; place?: string[] } = {},
) {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', keyOf(id).key as Uint8Array, nonce)
  cipher.setAAD(Buffer.from(JSON.stringify(place)))
  const data = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  const [encodedNonce, encoded, tag] = [nonce, data, cipher.getAuthTag()].map((bytes) => bytes.toString('base64'))
  return { key: id, nonce: encodedNonce, data: encoded, tag }
}
