// Letters that somebody has decided about: redriven, resolved or ignored.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTenant } from '../../app/address.ts'
import { ask } from '../../data/queries.ts'
import { Card } from '../../ui/card.tsx'
import { useGo } from '../../ui/link.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { counted } from '../../ui/text/format.ts'
import { LetterTable } from './letter-table.tsx'

const STATES = { retried: 'Redriven', resolved: 'Resolved', ignored: 'Ignored' } as const
const PAGE = 100

export function DecidedLetters() {
  const { go } = useGo()
  const tenant = useTenant()
  const [status, setStatus] = useState<keyof typeof STATES>('retried')
  const [before, setBefore] = useState<string | null>(null)
  const { data, error, refetch, isPending } = useQuery(
    ask('deadLetters', 'list', { status, limit: PAGE, ...(before && { before }), ...(tenant && { tenant }) }),
  )
  const next = data?.next
  return (
    <Card flush>
      <div className="inner-bar">
        <Tabs
          label="Letters by decision"
          chosen={status}
          onChoose={(key) => {
            setStatus(key as keyof typeof STATES)
            setBefore(null)
          }}
          tabs={Object.entries(STATES).map(([key, label]) => ({ key, label }))}
        />
      </div>
      {error && <ErrorState what="The letters could not be read." error={error} onRetry={refetch} />}
      {isPending ? (
        <SkeletonRows />
      ) : (
        <LetterTable
          label="Dead letters that were decided about"
          rows={data?.letters ?? []}
          onOpen={({ jobId }) => go(`/jobs/${jobId}`)}
          none={
            <EmptyState title="There is none.">Resolved and ignored letters are forgotten after seven days.</EmptyState>
          }
        />
      )}
      <div className="inner-foot">
        <Pagination
          isFirst={before === null}
          onFirst={() => setBefore(null)}
          onNext={next ? () => setBefore(next) : undefined}
        >
          {counted(data?.letters.length ?? 0, 'letter')}, newest first
        </Pagination>
      </div>
    </Card>
  )
}
