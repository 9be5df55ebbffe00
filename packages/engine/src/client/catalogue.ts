// The catalogue: what the programs of the workers on this database declare, for those that do not have their code.
import { Registry } from '../contract/registry.ts'
import { type CatalogueWorker, catalogueDocuments, catalogueList, type EntryRow } from '../store/catalogue.ts'
import type { Database } from '../store/db.ts'
import { CONTRACT_KINDS, contractsFrom, type NamedDocument } from './catalogue-contracts.ts'
import type { CatalogueDocuments, CatalogueKind } from './catalogue-document.ts'

export type CatalogueEntry<Kind extends CatalogueKind = CatalogueKind> = {
  [Each in Kind]: {
    readonly kind: Each
    readonly name: string
    /** As the worker that was started last declares it. */
    readonly document: CatalogueDocuments[Each]
    /** Of the program that declares it; null: it does not say. */
    readonly version: string | null
    readonly firstSeen: Date
    /** When a living worker last declared it: now, or when the last one was gone, at most an hour wrong. */
    readonly lastSeen: Date
    /** How many living workers declare it. 0: none does any more, and after 30 days it is forgotten. */
    readonly workers: number
    /** Living workers that declare it otherwise. */
    readonly differing: readonly CatalogueWorker[]
  }
}[Kind]

export class Catalogue {
  readonly #db: Database

  constructor(services: { db: Database }) {
    this.#db = services.db
  }

  /** Every declaration of this kind, or of all kinds, by kind and name. */
  async list<Kind extends CatalogueKind = CatalogueKind>(kind?: Kind): Promise<CatalogueEntry<Kind>[]> {
    return (await catalogueList(this.#db, kind ?? null)).map(entryOf<Kind>)
  }

  /** Undefined: no worker has declared it in the last 30 days. */
  async get<Kind extends CatalogueKind>(kind: Kind, name: string): Promise<CatalogueEntry<Kind> | undefined> {
    const [row] = await catalogueList(this.#db, kind, [name])
    return row && entryOf<Kind>(row)
  }
}

/** The contracts of this program, and those that the catalogue has besides: to look at, and to know names by. */
export async function knownContracts({ db, registry }: { db: Database; registry: Registry }): Promise<Registry> {
  const documents = (await catalogueDocuments(db, CONTRACT_KINDS)) as NamedDocument[]
  return new Registry([...registry.contracts, ...contractsFrom(documents, registry)], registry.keys)
}

/** The kinds and documents of the table are what workers of this engine write. */
const entryOf = <Kind extends CatalogueKind>(row: EntryRow): CatalogueEntry<Kind> =>
  row as EntryRow & CatalogueEntry<Kind>
