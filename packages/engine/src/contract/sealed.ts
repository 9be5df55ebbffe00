// Sensitive values inside a payload or a result: where they stand, how they are encrypted there, and what is shown of them.
import { EncryptionKeyMissing, InvalidPayload, Undecryptable } from '../errors.ts'
import type { JobContract } from './job.ts'
import { CannotOpen, type KeyRing, type Owner, type SealedValue } from './key-ring.ts'

export type SealedPart = 'payload' | 'result' | 'record'

/** The one key of the object that stands for an encrypted value. No payload may have a key of this name. */
export const SEAL = '$encrypted'
/** What people see of it. */
export const ENCRYPTED = '[encrypted]'

interface Place {
  readonly contract: JobContract
  readonly part: SealedPart
  readonly owner: Owner
}

/** Where something stands that is opened; `owner` as far as it is known. */
interface KnownPlace extends Omit<Place, 'owner'> {
  readonly owner: Partial<Owner>
}

/** Without what else a job has. */
export const ownerOf = ({ tenant, workflowId }: { tenant: string | null; workflowId?: string | null }): Owner => ({
  tenant,
  workflowId: workflowId ?? null,
})

/** The JSON text with every sensitive value encrypted. Throws EncryptionKeyMissing without keys. */
export function sealText(keys: KeyRing | undefined, { contract, part, owner }: Place, text: string): string {
  const { type, sensitive } = contract
  if (sensitive.length === 0) return text
  if (keys === undefined) throw new EncryptionKeyMissing(type)
  const sealAt = (value: unknown, path: readonly string[]): unknown => {
    if (value !== ENCRYPTED || part === 'result') return { [SEAL]: keys.seal(value, owner, [part, type, ...path]) }
    const message = 'it is the text that stands for an encrypted value; give the value itself'
    throw new InvalidPayload(type, [{ path: path.join('.'), message }])
  }
  return JSON.stringify(replaced(JSON.parse(text), patternsOf(sensitive), sealAt))
}

/** What stands at these paths. */
export function valuesAt(value: unknown, paths: readonly string[]): unknown[] {
  const values: unknown[] = []
  replaced(value, patternsOf(paths), (found) => values.push(found))
  return values
}

const patternsOf = (paths: readonly string[]): string[][] => paths.map((path) => path.split('.'))

/** Replaces what stands at the patterns, from the outside in. */
function replaced(
  value: unknown,
  patterns: readonly (readonly string[])[],
  replace: (value: unknown, path: readonly string[]) => unknown,
  path: readonly string[] = [],
): unknown {
  if (patterns.some((pattern) => pattern.length === path.length)) return replace(value, path)
  return mapped(value, (child, key) => {
    const below = patterns.filter((pattern) => pattern[path.length] === '*' || pattern[path.length] === key)
    return below.length === 0 ? child : replaced(child, below, replace, [...path, key])
  })
}

/** The same list or object with other values in it. */
function mapped(value: unknown, map: (child: unknown, key: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((child, i) => map(child, String(i)))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, map(child, key)]))
}

export function sealedValue(value: unknown): SealedValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, SEAL)) return undefined
  return (value as { [SEAL]: SealedValue })[SEAL]
}

/** The value with each sealed one replaced, wherever it stands: what is sensitive today may have been elsewhere before. */
export function mapSealed(
  value: unknown,
  map: (sealed: SealedValue, path: readonly string[]) => unknown,
  path: readonly string[] = [],
): unknown {
  const sealed = sealedValue(value)
  if (sealed !== undefined) return map(sealed, path)
  return mapped(value, (child, key) => mapSealed(child, map, [...path, key]))
}

/** What was stored, in plain; `onOpened` hears each value that was encrypted. Throws Undecryptable. */
export function openStored(
  keys: KeyRing | undefined,
  { contract, part, owner }: KnownPlace,
  stored: unknown,
  onOpened: (value: unknown) => void = () => {},
): unknown {
  // Without keys nothing of this program was ever encrypted, and the walk is spared.
  if (keys === undefined && contract.sensitive.length === 0) return stored
  return mapSealed(stored, (sealed, path) => {
    const value = openOne(keys, { type: contract.type, part, owner }, { sealed, path })
    onOpened(value)
    return value
  })
}

interface RecordPlace {
  readonly place: readonly string[]
  readonly tenant: string | null
}

/** What a handler recorded, encrypted as a whole if anything of its type is sensitive. `place` binds it to where it stands. */
export function sealRecord(
  keys: KeyRing | undefined,
  { type, sensitive }: Pick<JobContract, 'type' | 'sensitive'>,
  { place, tenant, text }: RecordPlace & { text: string },
): string {
  if (sensitive.length === 0) return text
  if (keys === undefined) throw new EncryptionKeyMissing(type)
  return JSON.stringify({ [SEAL]: keys.seal(JSON.parse(text), { tenant, workflowId: null }, ['record', ...place]) })
}

/** The same text in plain, as it is if it was not encrypted. Throws Undecryptable. */
export function openRecord(
  keys: KeyRing | undefined,
  type: string,
  { place, tenant, text }: RecordPlace & { text: string },
): string {
  const sealed = sealedValue(JSON.parse(text))
  if (sealed === undefined) return text
  return JSON.stringify(
    openOne(keys, { type, part: 'record', owner: { tenant } }, { sealed, path: [], place: ['record', ...place] }),
  )
}

function openOne(
  keys: KeyRing | undefined,
  { type, part, owner }: { type: string; part: SealedPart; owner: Partial<Owner> },
  { sealed, path, place }: { sealed: SealedValue; path: readonly string[]; place?: readonly string[] },
): unknown {
  try {
    if (keys === undefined) throw new CannotOpen(sealed.key, true)
    return keys.open(sealed, owner, place ?? [part, type, ...path])
  } catch (error) {
    if (!(error instanceof CannotOpen)) throw error
    const { keyId, isKeyMissing } = error
    throw new Undecryptable(type, { part, path: path.join('.'), keyId, isKeyMissing, known: keys?.ids ?? [] })
  }
}

/** The same values under the first key, and bound to their owner. Throws Undecryptable. */
export function resealed(
  keys: KeyRing,
  { type, part, owner, known = owner }: { type: string; part: SealedPart; owner: Owner; known?: Partial<Owner> },
  stored: unknown,
): unknown {
  return mapSealed(stored, (sealed, path) => {
    if (sealed.key === keys.first && sealed.owner !== undefined) return { [SEAL]: sealed }
    const value = openOne(keys, { type, part, owner: known }, { sealed, path })
    const [tenant, workflowId] = sealed.owner ?? [owner.tenant, owner.workflowId]
    return { [SEAL]: keys.seal(value, { tenant, workflowId }, [part, type, ...path]) }
  })
}
