// The sandbox's IMAP server, as a client without mercy talks to it: byte by byte, and with what no client should send.
import { createConnection } from 'node:net'
import { Mailboxes, Received, Switches, startImap } from '@millrace/sandbox'
import { expect, test } from 'vitest'

async function setup() {
  const mailboxes = new Mailboxes()
  const switches = new Switches<'imap'>()
  const received = new Received<'imap'>()
  const imap = await startImap({ mailboxes, received, switches })
  const { port } = new URL(imap.urlOf('ada'))
  const deliver = (subject: string, body = 'Hello') =>
    mailboxes.deliver(
      Buffer.from(`From: b@x.example\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@x>\r\n\r\n${body}`),
      {
        from: 'b@x.example',
        to: ['ada'],
      },
    )
  return {
    ...{ mailboxes, switches, received, deliver },
    /** Says all that is given, and answers with what the server said until it hangs up. */
    talk: (...said: readonly string[]): Promise<string> =>
      new Promise((resolve) => {
        const socket = createConnection(Number(port), '127.0.0.1')
        let heard = ''
        socket.on('data', (bytes) => {
          heard += bytes
        })
        socket.on('close', () => resolve(heard))
        socket.on('error', () => {})
        for (const line of said) socket.write(line)
        socket.write('z LOGOUT\r\n')
      }),
    [Symbol.asyncDispose]: () => imap.stop(),
  }
}

const LOGIN = 'a LOGIN ada x\r\n'

test('a mail is found, read in parts, flagged and moved', async () => {
  await using t = await setup()
  await t.deliver('one')
  await t.deliver('two', 'A longer body')
  const heard = await t.talk(
    LOGIN,
    'b SELECT INBOX\r\n',
    'c UID SEARCH UNSEEN SUBJECT two\r\n',
    'd UID FETCH 2 (FLAGS RFC822.SIZE BODY.PEEK[HEADER.FIELDS (SUBJECT)] BODY.PEEK[TEXT]<2.6>)\r\n',
    'e UID FETCH 1 BODY[]\r\n',
    'f SEARCH SEEN\r\n',
    'g UID MOVE 1 Done\r\n',
    'h CREATE Done\r\n',
    'i UID MOVE 1 Done\r\n',
    'j STATUS Done (MESSAGES UNSEEN)\r\n',
    'k UID FETCH 1:* FLAGS\r\n',
  )
  expect(heard).toContain('* 2 EXISTS\r\n')
  expect(heard).toContain('* SEARCH 2\r\nc OK')
  expect(heard).toMatch(
    /\* 2 FETCH \(UID 2 FLAGS \(\) RFC822\.SIZE \d+ BODY\[HEADER\.FIELDS \(SUBJECT\)\] \{16\}\r\nSubject: two\r\n\r\n BODY\[TEXT\]<2> \{6\}\r\nlonger\)/,
  )
  expect(heard).toContain('* SEARCH 1\r\nf OK')
  expect(heard).toContain('g NO [TRYCREATE]')
  expect(heard).toMatch(/\* OK \[COPYUID \d+ 1 1\] Copied\r\n\* 1 EXPUNGE\r\ni OK/)
  expect(heard).toContain('* STATUS "Done" (MESSAGES 1 UNSEEN 0)')
  expect(heard).toContain('* 1 FETCH (UID 2 FLAGS ())\r\nk OK')
  expect(t.mailboxes.account('ada').inbox.mails.map(({ uid }) => uid)).toEqual([2])
  expect(t.received.calls).toMatchObject([{ what: 'LOGIN ada' }])
})

test('numbers of mails never come twice, and a folder that is numbered anew says so', async () => {
  await using t = await setup()
  await t.deliver('one')
  const { inbox } = t.mailboxes.account('ada')
  const before = inbox.uidValidity
  inbox.remove([...inbox.mails])
  await t.deliver('two')
  expect(inbox.mails.map(({ uid }) => uid)).toEqual([2])
  inbox.renumber()
  expect(await t.talk(LOGIN, 'b SELECT INBOX\r\n')).toContain(`[UIDVALIDITY ${before + 1}]`)
  expect(inbox.mails.map(({ uid }) => uid)).toEqual([1])
})

test('flags, copies and deleted mails; a folder open to be read only changes nothing', async () => {
  await using t = await setup()
  for (const subject of ['one', 'two', 'three']) await t.deliver(subject)
  const heard = await t.talk(
    LOGIN,
    'b EXAMINE INBOX\r\n',
    'c STORE 1 +FLAGS (\\Deleted)\r\n',
    'd SELECT INBOX\r\n',
    'e STORE 1,3 +FLAGS (\\Deleted)\r\n',
    'f SEARCH NOT DELETED LARGER 10\r\n',
    'g SEARCH OR UID 1 (SEEN HEADER From x.example)\r\n',
    'h STORE 3 -FLAGS.SILENT (\\Deleted)\r\n',
    'i EXPUNGE\r\n',
    'j LIST "" "*"\r\n',
  )
  expect(heard).toContain('c NO The folder is open to be read only.')
  expect(heard).toContain('* 3 FETCH (FLAGS (\\Deleted))')
  expect(heard).toContain('* SEARCH 2\r\nf OK')
  expect(heard).toContain('* SEARCH 1\r\ng OK')
  expect(heard).toContain('* 1 EXPUNGE\r\ni OK')
  expect(heard).toContain('* LIST () "/" "INBOX"')
})

test('a command in pieces and a name as a literal are understood', async () => {
  await using t = await setup()
  const heard = await t.talk('a LO', 'GIN {3}\r', '\n', 'ada "x"\r\nb SEL', 'ECT {5+}\r\nINBOX\r\n')
  expect(heard).toContain('+ go ahead\r\na OK')
  expect(heard).toContain('b OK [READ-WRITE]')
})

test.each([
  ['nobody has logged in', 'b SELECT INBOX\r\n', 'b BAD Nobody has logged in. LOGIN first.'],
  ['no folder is open', `${LOGIN}b SEARCH ALL\r\n`, 'b BAD No folder is open. SELECT one first.'],
  ['a folder is not there', `${LOGIN}b SELECT Attic\r\n`, 'b NO [NONEXISTENT] There is no folder Attic.'],
  ['a command is not known', 'b FROBNICATE\r\n', 'b BAD The sandbox does not know FROBNICATE.'],
  [
    'a set is none',
    `${LOGIN}b SELECT INBOX\r\nc FETCH one FLAGS\r\n`,
    'c BAD Expected a set of numbers such as 1:3,7.',
  ],
  ['a parenthesis stays open', 'b STORE (1\r\n', '* BYE A parenthesis is not closed.'],
  ['a literal is too long', 'b LOGIN {99999999}\r\n', '* BYE The literal is too long.'],
])('%s: it says so', async (_what, said, answer) => {
  await using t = await setup()
  expect(await t.talk(said)).toContain(answer)
})

test('switched down it hangs up, and limited it refuses the login', async () => {
  await using t = await setup()
  t.switches.set('imap', 'down')
  expect(await t.talk()).toBe('* BYE The service is not available\r\n')
  t.switches.set('imap', 'limited')
  expect(await t.talk(LOGIN)).toContain('a NO [LIMIT]')
})
