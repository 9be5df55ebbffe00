// Enqueueing by the name of a type: with its contract if this program has it, otherwise by what the catalogue says of it.
import type { JobContract } from '../contract/job.ts'
import type { Registry } from '../contract/registry.ts'
import { ContractRequired, InvalidDefinition, UnknownJobType } from '../errors.ts'
import { catalogueDocuments } from '../store/catalogue.ts'
import type { Database } from '../store/db.ts'
import { contractsFrom, type NamedDocument } from './catalogue-contracts.ts'
import type { CatalogueType } from './catalogue-document.ts'
import type { EnqueueOptions } from './enqueue-options.ts'
import type { EnqueueResult, Enqueuer } from './enqueuer.ts'

/**
 * As for `enqueue`. A type whose contract this program does not have, and which derives a tenant or a key from its payload,
 * needs that here: the value, or null where a job has no such key.
 */
export interface EnqueueByTypeOptions extends Omit<EnqueueOptions, 'dedupKey'> {
  dedupKey?: string | null
  orderKey?: string | null
  limitKey?: string | null
}

interface GivenKeys {
  readonly orderKey: string | null | undefined
  readonly limitKey: string | null | undefined
}

interface Services {
  db: Database
  registry: Registry
  enqueuer: Enqueuer
}

export async function enqueueByType(
  services: Services,
  { type, payload }: { type: string; payload: unknown },
  options: EnqueueByTypeOptions,
): Promise<EnqueueResult> {
  const { registry, enqueuer } = services
  const { orderKey, limitKey, dedupKey, ...others } = options
  const own = registry.find(type)
  const common = { ...others, ...(dedupKey != null && { dedupKey }) }
  if (own !== undefined) {
    refuseKeys(type, { orderKey, limitKey })
    return enqueuer.enqueue(own, payload, common)
  }
  const contract = withKeys(await contractOf(services, type, options), { orderKey, limitKey })
  return enqueuer.enqueueUnlisted(contract, payload, common)
}

/** The contract says which key a job has; two that say it differently would run side by side. */
function refuseKeys(type: string, keys: GivenKeys): void {
  const given = Object.entries(keys).find(([, key]) => key !== undefined)
  if (given === undefined) return
  throw new InvalidDefinition(
    `The contract of job "${type}" is known here and has its own keys: leave ${given[0]} out.`,
  )
}

async function contractOf({ db, registry }: Services, type: string, options: EnqueueByTypeOptions) {
  const types = await documentsOf(db, 'type', [type])
  const document = types[0]?.document as CatalogueType | undefined
  if (document === undefined) {
    const known = await documentsOf(db, 'type', null)
    throw new UnknownJobType(type, [...registry.types, ...known.map(({ name }) => name)])
  }
  demandCheckable(type, document)
  demandOptions(type, document, options)
  const queues = await documentsOf(db, 'queue', [document.queue])
  const [contract] = contractsFrom([...types, ...queues], registry)
  return contract as JobContract
}

async function documentsOf(db: Database, kind: string, names: readonly string[] | null): Promise<NamedDocument[]> {
  return (await catalogueDocuments(db, [kind], names)) as NamedDocument[]
}

function demandCheckable(type: string, { sensitive, schema, schemaMissing }: CatalogueType): void {
  if (sensitive.length > 0) {
    throw new ContractRequired(
      type,
      `its values at ${sensitive.join(', ')} are stored encrypted, and only a program with the contract and the keys does that`,
    )
  }
  if (schema === null)
    throw new ContractRequired(type, `its payload cannot be checked, because there is no JSON Schema: ${schemaMissing}`)
}

function demandOptions(type: string, document: CatalogueType, options: EnqueueByTypeOptions): void {
  const { tenant, dedupe, order, keyLimit } = document
  const needs = {
    tenant: tenant === 'payload' && !options.tenant,
    dedupKey: dedupe !== null && options.dedupKey === undefined,
    orderKey: order !== null && options.orderKey === undefined,
    limitKey: keyLimit !== null && options.limitKey === undefined,
  }
  const [missing] = Object.entries(needs).flatMap(([option, isMissing]) => (isMissing ? [option] : []))
  if (missing !== undefined)
    throw new ContractRequired(type, `it derives its ${WORDS[missing]} from the payload`, remedy(missing))
  for (const [option, isDerived] of [
    ['orderKey', order !== null],
    ['limitKey', keyLimit !== null],
  ] as const) {
    if (options[option] != null && !isDerived)
      throw new InvalidDefinition(`Job "${type}" has no ${WORDS[option]}: leave ${option} out.`)
  }
}

function remedy(option: string): string {
  const flag = String(WORDS[option]).replace(' ', '-')
  return option === 'tenant'
    ? 'Pass { tenant }; at the command line --tenant.'
    : `Pass { ${option} }, or null if this job has none; at the command line --${flag} or --no-${flag}.`
}

const WORDS: Readonly<Record<string, string>> = {
  tenant: 'tenant',
  dedupKey: 'dedup key',
  orderKey: 'order key',
  limitKey: 'limit key',
}

/** The keys that were given, where the code would derive them. */
function withKeys(contract: JobContract, keys: GivenKeys): JobContract {
  const { order, keyLimit } = contract
  return {
    ...contract,
    order: order && { ...order, key: () => keys.orderKey },
    keyLimit: keyLimit && { ...keyLimit, key: () => keys.limitKey },
  }
}
