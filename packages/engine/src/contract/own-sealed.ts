// Values that a program keeps in columns of its own: encrypted under the same keys, each bound to what it belongs to.
import { EncryptionKeyMissing, InvalidDefinition, SealNotOpened } from '../errors.ts'
import { CannotOpen, type KeyRing, type SealedValue } from './key-ring.ts'
import { encodeJson } from './payload.ts'
import { SEAL, sealedValue } from './sealed.ts'

export interface SealOptions {
  /** What the value belongs to, such as 'oauth-token/user-17'. It is stored in plain, and the value opens for nothing else. */
  for: string
}

const MAX_BYTES = 1_048_576
/** No payload or result has this as its first part, so none of their values opens here, nor one of these there. */
const placeOf = (belongsTo: string): readonly string[] => ['value', belongsTo]

/** JSON text that holds the encrypted value. */
export function sealOwn(keys: KeyRing | undefined, value: unknown, { for: belongsTo }: SealOptions): string {
  checkFor(belongsTo)
  if (keys === undefined) throw new EncryptionKeyMissing()
  const sealed = keys.seal(plainValue(value), undefined, placeOf(belongsTo))
  return JSON.stringify({ [SEAL]: { ...sealed, for: belongsTo } })
}

/** Throws SealNotOpened. */
export function openOwn(keys: KeyRing | undefined, text: string, { for: belongsTo }: SealOptions): unknown {
  checkFor(belongsTo)
  const sealed = sealedIn(text, belongsTo)
  const facts = { for: belongsTo, keyId: sealed.key, known: keys?.ids ?? [] }
  if (keys === undefined) throw new SealNotOpened('unknown_key', facts)
  try {
    return keys.open(sealed, {}, placeOf(belongsTo))
  } catch (error) {
    if (!(error instanceof CannotOpen)) throw error
    if (error.isKeyMissing) throw new SealNotOpened('unknown_key', facts)
    throw new SealNotOpened(sealed.for === belongsTo ? 'altered' : 'other_binding', { ...facts, sealedFor: sealed.for })
  }
}

/** Whether the value is under another key than the first. */
export function isStaleOwn(keys: KeyRing | undefined, text: string): boolean {
  if (keys === undefined) throw new EncryptionKeyMissing()
  return sealedIn(text).key !== keys.first
}

function sealedIn(text: string, belongsTo?: string): SealedValue {
  const sealed = sealedValue(parsed(text))
  const isComplete = typeof sealed?.key === 'string' && typeof sealed.for === 'string'
  if (!isComplete) throw new SealNotOpened('not_sealed', { for: belongsTo, known: [] })
  return sealed
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Secrets are welcome: they are what is sealed. */
function plainValue(value: unknown): unknown {
  if (value === undefined) throw new InvalidDefinition('There is nothing to seal: the value is undefined.')
  const encoded = encodeJson({ value }, { maxBytes: MAX_BYTES, allowSecrets: ['value'] })
  if ('refusal' in encoded) {
    const { path, message } = encoded.refusal
    throw new InvalidDefinition(`A value cannot be sealed at ${path || 'its root'}: ${message}.`)
  }
  return (encoded.value as { value: unknown }).value
}

function checkFor(belongsTo: unknown): void {
  if (typeof belongsTo === 'string' && belongsTo !== '') return
  throw new InvalidDefinition(
    "`for` is missing: say what the value belongs to, such as { for: 'oauth-token/user-17' }.",
  )
}
