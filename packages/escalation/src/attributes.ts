// What messages may say about a payload: the paths that the contract of the job names as `attributes`, and nothing else.
import { type EscalationFacts, type Millrace, payloadAttributes } from 'millrace'

export type Attributes = Readonly<Record<string, string>>
export type AttributesOf = (row: EscalationFacts) => Attributes

/** For the jobs of these rows. A type that no worker declares any more has none. */
export async function attributesFor(millrace: Millrace, rows: readonly EscalationFacts[]): Promise<AttributesOf> {
  const types = new Set(rows.flatMap(({ type, payload }) => (type === null || payload === null ? [] : [type])))
  const paths = new Map<string, readonly string[]>()
  for (const type of types) paths.set(type, (await millrace.catalogue.get('type', type))?.document.attributes ?? [])
  return ({ type, payload }) => {
    const found = payloadAttributes(paths.get(type ?? '') ?? [], payload)
    return Object.fromEntries(Object.entries(found).map(([path, value]) => [path, [value].flat().join(', ')]))
  }
}
