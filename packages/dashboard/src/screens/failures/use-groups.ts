// The groups that wait for a decision, live, with what is known of each.
import { keepPreviousData } from '@tanstack/react-query'
import { useTenant } from '../../app/address.ts'
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { joined } from './groups.ts'

const MOST = 100

export function useGroups(queue?: string) {
  const tenant = useTenant()
  const may = useMay()
  const scope = { ...(tenant && { tenant }) }
  const counted = useLive(ask('deadLetters', 'groups', { limit: MOST, ...scope, ...(queue && { queue }) }), {
    topic: 'dead-letters',
  })
  const fingerprints = [...new Set(counted.data?.groups.flatMap(({ fingerprint }) => fingerprint ?? []))]
    .sort()
    .join(',')
  const facts = useLive({
    ...ask('deadLetters', 'groupFacts', { fingerprints, ...scope }),
    enabled: fingerprints !== '',
    placeholderData: keepPreviousData,
  })
  const operations = useLive(
    { ...ask('bulk', 'list', { limit: 50, ...scope }), enabled: may('bulk.list') },
    { every: 3_000 },
  )
  return {
    counted,
    isCut: counted.data?.groups.length === MOST,
    groups: joined(counted.data?.groups ?? [], facts.data?.groups ?? [], operations.data?.operations ?? []),
  }
}
