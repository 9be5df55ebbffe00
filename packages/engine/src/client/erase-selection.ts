// Which jobs are to be erased, as a caller says it and as the database is asked.
import type { JobContract } from '../contract/job.ts'
import type { Registry } from '../contract/registry.ts'
import { valuesAt } from '../contract/sealed.ts'
import { InvalidDefinition } from '../errors.ts'
import type { EraseFilter, ErasePlace } from '../store/erasure.ts'
import { isJobId } from '../store/job-id.ts'
import { label } from './enqueue-options.ts'

/** Rows that are looked at together, and erased in one transaction. */
export const PAGE = 1_000

interface Selectors {
  /** All jobs of this tenant. */
  tenant: string
  /** All jobs of this type … */
  type: string
  /** … whose payload contains this. */
  where: object
  /** These jobs. */
  ids: readonly string[]
  /** Jobs and workflows that this creator enqueued. */
  createdBy: string
  /** Jobs of all types, and workflows, that have at this path of their payload, such as `user.email` or `rows.*.email` … */
  path: string
  /** … this value. */
  equals: string | number | boolean
}

type Only<Required extends keyof Selectors, Optional extends keyof Selectors = never> = Pick<Selectors, Required> &
  Partial<Pick<Selectors, Optional>> & { [Other in Exclude<keyof Selectors, Required | Optional>]?: undefined }

/** Which jobs: those of a tenant, of a type, of a creator, with a value at a path of their payload, or these. */
export type EraseSelection =
  | Only<'tenant'>
  | Only<'type', 'where'>
  | Only<'ids'>
  | Only<'createdBy'>
  | Only<'path' | 'equals'>

const NONE: EraseFilter = { tenant: null, type: null, where: null, ids: null, createdBy: null }

export function eraseFilters(registry: Registry, selection: EraseSelection): EraseFilter[] {
  const { tenant, type, where, ids, createdBy, path, equals } = selection
  const chosen = [tenant, type, ids, createdBy, path].filter((each) => each !== undefined)
  const isPaired = (where === undefined || type !== undefined) && (path === undefined) === (equals === undefined)
  if (chosen.length !== 1 || !isPaired)
    throw new InvalidDefinition(
      'erase takes one of { tenant }, { type, where }, { createdBy }, { path, equals } and { ids }.',
    )
  if (tenant !== undefined) return [{ ...NONE, tenant: label(tenant, 'tenant') }]
  if (type !== undefined) return [{ ...NONE, type: label(type, 'type'), where: whereOf(registry, type, where) }]
  if (createdBy !== undefined) return [{ ...NONE, createdBy: label(createdBy, 'createdBy') }]
  if (path !== undefined) return [{ ...NONE, where: JSON.stringify(objectWith(path, equals)) }]
  return idFilters(ids ?? [])
}

/** Declared types that keep the value at this path encrypted: nothing finds it there. */
export function encryptedAt(registry: Registry, { path, equals }: EraseSelection): string[] | undefined {
  if (path === undefined) return undefined
  const sought = objectWith(path, equals)
  return registry.contracts.filter(({ sensitive }) => valuesAt(sought, sensitive).length > 0).map(({ type }) => type)
}

/** A person's own rows are looked for among workflows, too; those of types and ids are found by their jobs. */
export const placesOf = ({ createdBy, path }: EraseSelection): ErasePlace[] =>
  createdBy === undefined && path === undefined
    ? ['live', 'archive', 'deadLetters']
    : ['live', 'archive', 'deadLetters', 'workflows']

/** Where an erasure that was cut off goes on. */
export function cursorFrom(
  selection: EraseSelection & { cursor?: string },
): { place: ErasePlace; after: string } | undefined {
  const { cursor } = selection
  if (cursor === undefined) return undefined
  const [name, after = '', ...more] = String(cursor).split(':')
  const place = placesOf(selection).find((each) => each === name)
  if (place === undefined || (after !== '0' && !isJobId(after)) || more.length > 0 || selection.ids !== undefined)
    throw new InvalidDefinition(
      `cursor is ${JSON.stringify(cursor)}: expected one that onProgress was given for the same selection. An erasure by ids has none.`,
    )
  return { place, after }
}

function idFilters(ids: readonly string[]): EraseFilter[] {
  const wrong = ids.find((id) => !isJobId(id))
  if (wrong !== undefined) throw new InvalidDefinition(`ids has ${JSON.stringify(wrong)}: expected the ids of jobs.`)
  return Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, i) => ({
    ...NONE,
    ids: ids.slice(i * PAGE, (i + 1) * PAGE),
  }))
}

/** The least object that has this value at this path; `*` is any position of a list. */
function objectWith(path: unknown, equals: unknown): object {
  const keys = typeof path === 'string' ? path.split('.') : []
  if (keys.length === 0 || keys[0] === '*' || keys.includes(''))
    throw new InvalidDefinition(
      `path is ${JSON.stringify(path)}: expected keys of the payload, such as "user.email" or "rows.*.email".`,
    )
  if (!['string', 'number', 'boolean'].includes(typeof equals))
    throw new InvalidDefinition('`equals` must be a text, a number or a boolean.')
  return keys.reduceRight<unknown>(
    (inner, key) => (key === '*' ? [inner] : Object.fromEntries([[key, inner]])),
    equals,
  ) as object
}

function whereOf(registry: Registry, type: string, where: object | undefined): string | null {
  if (where === undefined) return null
  if (typeof where !== 'object' || where === null || Array.isArray(where) || Object.keys(where).length === 0)
    throw new InvalidDefinition('`where` must be an object that the payload contains, such as { email: "…" }.')
  const contract: JobContract | undefined = registry.find(type)
  if (contract !== undefined && valuesAt(where, contract.sensitive).length > 0) {
    throw new InvalidDefinition(
      `\`where\` names a sensitive path of job "${type}": such values are stored encrypted and cannot be searched for. Erase by tenant, by another part of the payload, or by ids.`,
    )
  }
  return JSON.stringify(where)
}
