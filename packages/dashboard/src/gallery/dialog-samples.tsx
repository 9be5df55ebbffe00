import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/overlay/menu.tsx'
import { PreviewDialog } from '../ui/overlay/preview-dialog.tsx'
import { toast } from '../ui/overlay/toasts.tsx'

export function DialogSamples() {
  const [isOpen, setOpen] = useState(false)
  const [done, setDone] = useState(0)
  return (
    <div className="acts">
      <Button onClick={() => setOpen(true)}>Preview…</Button>
      <Menu
        label="Newest first"
        items={[
          { key: 'new', label: 'Newest first', isChosen: true, onChoose: () => undefined },
          { key: 'old', label: 'Oldest first', isChosen: false, onChoose: () => undefined },
        ]}
      />
      <Button onClick={() => toast({ says: '41 letters were acknowledged.', onUndo: () => undefined })}>Toast</Button>
      <Button onClick={() => toast({ says: 'The queue mail is not known.', tone: 'fail' })}>Failure</Button>
      <PreviewDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Redrive 412 letters of RSS_FEED_REFRESH"
        verb="Redrive"
        noun="letter"
        preview={async () => ({
          ...{ willChange: 391, already: 14, refused: 2, noUndo: 'the new jobs may have run' },
          reasons: [
            { outcome: 'already', reason: 'a live job does their work', count: 14 },
            { outcome: 'refused', reason: 'org_oulu is suspended', count: 2 },
          ],
        })}
        onRun={async () => 'op'}
        follow={async () => {
          setDone((count) => count + 90)
          return { changed: Math.min(391, done), already: 14, refused: 2, expected: 407, isOver: done > 391 }
        }}
      />
    </div>
  )
}
