// The keys under which sensitive values are stored: AES-256-GCM, the first key encrypts, all of them decrypt.
//
// What is encrypted is bound to where it stands and whose it is (additional authenticated data): a value that somebody copies
// to another path, another job type, another tenant's job or workflow, or from a payload into a result does not open there.
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { InvalidDefinition } from '../errors.ts'

export interface EncryptionKey {
  /** Stored with every value: 1–64 letters, digits or `_ . -`. */
  id: string
  /** 32 random bytes, or their base64 text. */
  key: Uint8Array | string
}

export interface EncryptionOptions {
  /** The first key encrypts, all of them decrypt. */
  keys: readonly EncryptionKey[]
  /**
   * Another 32 random bytes, or their base64 text: under it the dedup, order and limit keys of sensitive types are stored
   * as HMACs. It is apart from `keys`, because it has to stay when they are rotated: equal keys must remain equal.
   */
  lookupKey?: Uint8Array | string
}

/** Whose value it is. */
export interface Owner {
  readonly tenant: string | null
  readonly workflowId: string | null
}

/** One encrypted value, as it is stored. `nonce`, `data` and `tag` are base64. */
export interface SealedValue {
  readonly key: string
  /** Null tenant or workflow: none. Missing altogether: it was encrypted before values were bound to their owners. */
  readonly owner?: readonly [tenant: string | null, workflowId: string | null]
  /** Of a value in a column of the program: what it belongs to. Such a value has no owner. */
  readonly for?: string
  readonly nonce: string
  readonly data: string
  readonly tag: string
}

/** Why a value cannot be opened. Thrown inside the walk only, which knows the place. */
export class CannotOpen extends Error {
  readonly keyId: string
  readonly isKeyMissing: boolean

  constructor(keyId: string, isKeyMissing: boolean) {
    super(isKeyMissing ? 'the key is missing' : 'the value does not open')
    this.keyId = keyId
    this.isKeyMissing = isKeyMissing
  }
}

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const ID = /^[\w.-]{1,64}$/
const HMAC = /^hmac:[\w-]{43}$/

export class KeyRing {
  readonly #keys = new Map<string, KeyObject>()
  readonly #lookup: KeyObject | undefined
  /** The id of the key that encrypts. */
  readonly first: string

  constructor({ keys, lookupKey }: EncryptionOptions) {
    const [first] = keys
    if (first === undefined) throw new InvalidDefinition('encryption.keys is empty: give at least one key.')
    for (const { id, key } of keys) {
      if (!ID.test(id)) {
        throw new InvalidDefinition(
          `encryption.keys has the id ${JSON.stringify(id)}: expected 1–64 letters, digits or "_ . -".`,
        )
      }
      if (this.#keys.has(id)) throw new InvalidDefinition(`encryption.keys has two keys "${id}": ids are unique.`)
      this.#keys.set(id, secretKey(key, `encryption key "${id}"`))
    }
    this.first = first.id
    this.#lookup = lookupKey === undefined ? undefined : secretKey(lookupKey, 'encryption.lookupKey')
  }

  get ids(): string[] {
    return [...this.#keys.keys()]
  }

  /** `place`: where the value stands. Without an owner it is bound to its place alone. */
  seal(value: unknown, by: Owner | undefined, place: readonly string[]): SealedValue {
    const owner = by && ([by.tenant, by.workflowId] as const)
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#keys.get(this.first) as KeyObject, nonce)
    cipher.setAAD(bound(owner === undefined ? place : [owner, ...place]))
    const data = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
    return {
      key: this.first,
      ...(owner && { owner }),
      nonce: nonce.toString('base64'),
      data: data.toString('base64'),
      tag: cipher.getAuthTag().toString('base64'),
    }
  }

  /** `known`: as much of its owner as the caller knows. Throws CannotOpen. */
  open({ key: id, owner, nonce, data, tag }: SealedValue, known: Partial<Owner>, place: readonly string[]): unknown {
    const key = this.#keys.get(id)
    if (key === undefined) throw new CannotOpen(id, true)
    try {
      if (owner !== undefined && !isOwned(owner, known)) throw new CannotOpen(id, false)
      const decipher = createDecipheriv(ALGORITHM, key, Buffer.from(nonce, 'base64'), { authTagLength: TAG_BYTES })
      decipher.setAAD(bound(owner === undefined ? place : [owner, ...place]))
      decipher.setAuthTag(Buffer.from(tag, 'base64'))
      const text = Buffer.concat([decipher.update(Buffer.from(data, 'base64')), decipher.final()]).toString('utf8')
      return JSON.parse(text)
    } catch {
      throw new CannotOpen(id, false)
    }
  }

  /**
   * What stands for a key that says something about its job: equal for equal keys, and without `lookupKey` nobody can
   * tell which. Of one that is such an HMAC already, itself: a redriven job keeps its key.
   */
  lookup(type: string, key: string, place: readonly string[]): string {
    if (HMAC.test(key)) return key
    if (this.#lookup === undefined) {
      throw new InvalidDefinition(
        `Job "${type}" is sensitive and has a dedup, order or limit key, which is stored as an HMAC: give 32 random bytes as createMillrace({ encryption: { lookupKey } }), or set MILLRACE_LOOKUP_KEY.`,
      )
    }
    return `hmac:${createHmac('sha256', this.#lookup)
      .update(bound([...place, key]))
      .digest('base64url')}`
  }
}

const bound = (place: readonly unknown[]): Buffer => Buffer.from(JSON.stringify(place))

function isOwned([tenant, workflowId]: NonNullable<SealedValue['owner']>, known: Partial<Owner>): boolean {
  if (known.tenant !== undefined && known.tenant !== tenant) return false
  return known.workflowId === undefined || known.workflowId === workflowId
}

function secretKey(key: Uint8Array | string, what: string): KeyObject {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : Buffer.from(key)
  if (bytes.byteLength === KEY_BYTES) return createSecretKey(bytes)
  throw new InvalidDefinition(
    `${what} has ${bytes.byteLength} bytes: expected ${KEY_BYTES} random bytes, or their base64 text. Make one with \`openssl rand -base64 32\`.`,
  )
}

/**
 * Keys from the environment: MILLRACE_ENCRYPTION_KEYS is a list of `id:base64`, separated by commas, of which the first
 * encrypts; MILLRACE_LOOKUP_KEY is base64. Undefined without them.
 */
export function encryptionFrom(env: Readonly<Record<string, string | undefined>>): EncryptionOptions | undefined {
  const list = env.MILLRACE_ENCRYPTION_KEYS?.trim()
  if (!list) return undefined
  const keys = list.split(',').map((entry, i) => {
    const [, id, key] = /^\s*([^:\s]+):(\S+)\s*$/.exec(entry) ?? []
    if (id !== undefined && key !== undefined) return { id, key }
    // Never the text itself: it may be a key without an id.
    throw new InvalidDefinition(
      `Entry ${i + 1} of MILLRACE_ENCRYPTION_KEYS is not usable: expected id:base64,id:base64, the first of which encrypts.`,
    )
  })
  const lookupKey = env.MILLRACE_LOOKUP_KEY?.trim()
  return { keys, ...(lookupKey ? { lookupKey } : {}) }
}
