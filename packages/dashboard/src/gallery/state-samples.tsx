import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { FilterChips } from '../ui/filter-chips.tsx'
import { QueueName, TenantName } from '../ui/names.tsx'
import { NeedsAttention } from '../ui/needs-attention.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../ui/states.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
const STATES = [
  'pending',
  'processing',
  'blocked',
  'failed',
  'completed',
  'cancelled',
  'dead',
  'acknowledged',
  'ignored',
]
const QUEUES = ['HIGH', 'DEFAULT', 'SCREENSHOT', 'LOW', 'BULK', 'UNDECLARED']

export const StateSamples = () => (
  <>
    <NeedsAttention
      items={[
        {
          key: 'a',
          tone: 'fail',
          since: ago(12),
          action: { label: 'Why', to: '/breakers' },
          says: (
            <>
              <b>email-service</b> breaker open since 14:02 <span className="dim">· 412 jobs wait for it</span>
            </>
          ),
        },
        { key: 'b', tone: 'late', since: ago(3), action: <Button>Shares</Button>, says: 'org_northwind waits.' },
      ]}
    />
    <Card title="States">
      <p className="acts">
        {STATES.map((status) => (
          <StatusBadge key={status} status={status} />
        ))}
      </p>
      <p className="acts">
        {STATES.map((status) => (
          <StatusBadge key={status} status={status} as="tag" />
        ))}
      </p>
      <p className="acts">
        {QUEUES.map((queue) => (
          <QueueName key={queue} name={queue} />
        ))}
        <TenantName name="org_acme" /> <TenantName name={null} />
      </p>
      <p className="acts">
        <Button variant="primary">
          Redrive <kbd>r</kbd>
        </Button>
        <Button>Acknowledge</Button>
        <Button variant="danger">Cancel…</Button>
        <Button variant="quiet">Close</Button>
        <Button disabledBecause="The job is due already." showReason>
          Retry now
        </Button>
      </p>
      <FilterChips
        onClear={() => undefined}
        filters={[
          { name: 'queue', value: 'mail', onRemove: () => undefined },
          { name: 'status', value: 'dead', onRemove: () => undefined },
        ]}
      />
    </Card>
    <ErrorState
      what="The failures could not be read."
      error={new TypeError('fetch failed')}
      onRetry={() => new Promise((done) => setTimeout(done, 1_000))}
    />
    <div className="grid2 even">
      <Card flush>
        <EmptyState title="No jobs match." action={<Button>Clear the filters</Button>}>
          <p>Four filters hold. Drop one of them.</p>
        </EmptyState>
      </Card>
      <Card flush>
        <SkeletonRows rows={4} />
      </Card>
    </div>
  </>
)
