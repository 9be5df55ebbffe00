// The letters of a kind, one by one.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTenant } from '../../app/address.ts'
import { CsvLink } from '../../app/csv-link.tsx'
import { api } from '../../data/client.ts'
import { ask, refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { useGo } from '../../ui/link.tsx'
import { PreviewDialog } from '../../ui/overlay/preview-dialog.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { counted } from '../../ui/text/format.ts'
import { type Letter, LetterTable } from './letter-table.tsx'
import { progressOf } from './operations.ts'

const PAGE = 50
const NONE: ReadonlySet<string> = new Set()

export function Members({ fingerprint, type }: { fingerprint: string; type: string }) {
  const { go } = useGo()
  const tenant = useTenant()
  const may = useMay()
  const [before, setBefore] = useState<string | null>(null)
  const [selected, setSelected] = useState<ReadonlySet<string>>(NONE)
  const { data, error, refetch, isPending } = useQuery({
    ...ask('deadLetters', 'list', {
      fingerprint,
      type,
      limit: PAGE,
      ...(before && { before }),
      ...(tenant && { tenant }),
    }),
    refetchInterval: 10_000,
  })
  const next = data?.next
  const letters = data?.letters ?? []
  return (
    <Card
      flush
      title="Letters"
      aside={may('bulk.start') && <Chosen letters={letters} selected={selected} onDone={() => setSelected(NONE)} />}
    >
      {error && <ErrorState what="The letters could not be read." error={error} onRetry={refetch} />}
      {isPending ? (
        <SkeletonRows />
      ) : (
        <LetterTable
          label="The letters of this kind of failure"
          rows={letters}
          without={['type']}
          {...(may('bulk.start') && { selected, onSelect: setSelected })}
          onOpen={({ jobId }) => go(`/jobs/${jobId}`)}
          none={<EmptyState title="No letter of this kind is kept." />}
        />
      )}
      <div className="inner-foot">
        <Pagination
          isFirst={before === null}
          onFirst={() => setBefore(null)}
          onNext={next ? () => setBefore(next) : undefined}
        >
          {counted(letters.length, 'letter')}, newest first{' '}
          <CsvLink operation="deadLetters.csv" input={{ fingerprint, type, tenant }} of="the letters of this kind" />
        </Pagination>
      </div>
    </Card>
  )
}

type Action = 'redrive' | 'resolve' | 'ignore'
const DONE: Record<Action, string> = { redrive: 'redriven', resolve: 'resolved', ignore: 'ignored' }
const VERBS: Record<Action, string> = { redrive: 'Redrive', resolve: 'Resolve', ignore: 'Ignore' }

function Chosen({
  letters,
  selected,
  onDone,
}: {
  letters: readonly Letter[]
  selected: ReadonlySet<string>
  onDone: () => void
}) {
  const [action, setAction] = useState<Action | null>(null)
  const ids = letters.filter(({ id }) => selected.has(id)).map(({ jobId }) => jobId)
  const none = ids.length === 0 ? 'Select letters first, with x or by their boxes.' : null
  const request = { action: action ?? 'redrive', ids }
  return (
    <span className="acts">
      <span className="note">{ids.length > 0 && `${ids.length} selected`}</span>
      {(Object.keys(VERBS) as Action[]).map((key) => (
        <Button key={key} size="sm" disabledBecause={none} onClick={() => setAction(key)}>
          {VERBS[key]}…
        </Button>
      ))}
      {action && (
        <PreviewDialog
          isOpen
          onClose={() => {
            setAction(null)
            onDone()
            refresh('deadLetters', 'bulk')
          }}
          title={`${VERBS[action]} ${counted(ids.length, 'letter')}`}
          verb={VERBS[action]}
          noun="letter"
          done={DONE[action]}
          preview={() => api.bulk.preview(request)}
          onRun={async () => (await api.bulk.start(request)).id}
          follow={async (id) => progressOf(await api.bulk.get({ id }))}
          onStop={(id) => api.bulk.cancel({ id })}
        />
      )}
    </span>
  )
}
