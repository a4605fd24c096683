// What a program does by the API of a brine ui, with a client that a generator made of its
// OpenAPI document: two tokens make, check, plan, approve, schedule, run and watch a chain
// of which two hosts fail. Who started the script may end the server once it has printed
// "watching"; the script goes on when there is one again. Its result is a JSON object.
import assert from 'node:assert/strict'
import * as brine from './client.mjs'

const [base] = process.argv.slice(2)
const baseUrl = base ?? ''
/** @param {string} name */
const by = (name) => ({ baseUrl, auth: process.env[name] ?? '' })
const editor = by('EDITOR_TOKEN')
const operator = by('OPERATOR_TOKEN')
const path = { name: 'friday' }

/**
 * ok returns the data of an answer that is not a problem.
 * @template T
 * @param {Promise<{data?: T, error?: unknown}>} call
 * @returns {Promise<NonNullable<T>>}
 */
async function ok(call) {
	const { data, error } = await call
	assert.equal(error, undefined, JSON.stringify(error))
	assert.ok(data)
	return data
}

/**
 * refused checks that a call got a problem.
 * @param {Promise<{error?: unknown}>} call
 * @param {number} status
 * @param {RegExp} detail
 */
async function refused(call, status, detail) {
	const { error } = await call
	const problem = /** @type {brine.Problem} */ (error)
	assert.equal(problem?.status, status, JSON.stringify(error))
	assert.match(problem.detail ?? '', detail)
}

/**
 * watch follows a run until it has ended, over the ends of servers, and returns what it is then.
 * @param {{baseUrl: string, auth: string}} as
 * @param {string} id
 * @param {(run: brine.RunDetail) => void} [seen]
 */
async function watch(as, id, seen) {
	for (let tries = 0; tries < 600; tries++) {
		try {
			const { stream } = await brine.watchRun({ ...as, path: { id }, sseDefaultRetryDelay: 100, sseMaxRetryDelay: 500 })
			for await (const run of stream) seen?.(run)
			const run = await ok(brine.getRun({ ...as, path: { id } }))
			if (!['running', 'waiting', 'stopping'].includes(run.state)) return run
		} catch (fault) {
			if (!(fault instanceof TypeError)) throw fault // which is a lost connection
		}
		await new Promise((done) => setTimeout(done, 100))
	}
	throw new Error(`the run ${id} does not end`)
}

// The editor makes the chain. An older version of it is not overwritten.
const text = `description: The Friday deployment
approve: {by: ['token:ben']}
steps:
  - {action: state, id: 1, targets: 'web*', sls: [once]}
`
const made = await ok(brine.putChain({ ...editor, path, body: { text: text.replace('ben', 'eve') } }))
const changed = await ok(brine.putChain({ ...editor, path, body: { text, version: made.version } }))
await refused(brine.putChain({ ...editor, path, body: { text, version: made.version } }), 409, /changed this chain/)
await refused(brine.putChain({ ...operator, path, body: { text, version: changed.version } }), 403, /editor/)
const checked = await ok(brine.checkChain({ ...operator, path }))
assert.deepEqual([checked.steps, checked.faults], [1, []])
await refused(brine.getChain({ ...operator, path: { name: 'none' } }), 404, /none/)

// It is scheduled, and the schedule is canceled.
const later = await ok(brine.addSchedule({ ...operator, path, body: { at: '2099-12-01T04:00:00Z', version: changed.version } }))
assert.equal((await ok(brine.listSchedules(operator))).items.length, 1)
await brine.cancelSchedule({ ...operator, path: { ...path, schedule: later.id } })
assert.equal((await ok(brine.listSchedules(operator))).items.length, 0)

// A request that is sent again starts nothing more, and another person approves.
const start = { ...editor, path, body: { version: changed.version }, headers: { 'Idempotency-Key': 'one' } }
const run = await ok(brine.startChain(start))
assert.equal((await ok(brine.startChain(start))).id, run.id)
assert.equal((await ok(brine.listRuns(operator))).items.length, 1)
/** @type {brine.Approval | undefined} */
let question
for (let i = 0; i < 600 && !question; i++) {
	question = (await ok(brine.listApprovals(operator))).items.find((x) => x.run === run.id || x.id === run.id)
	if (!question) await new Promise((done) => setTimeout(done, 100))
}
assert.ok(question, 'nobody is asked')
await refused(brine.approveRun({ ...editor, path: { id: question.id }, body: {} }), 403, /./)
await ok(brine.approveRun({ ...operator, path: { id: question.id }, body: { comment: 'as agreed' } }))

// It is watched, by the one connection after the other.
let watching = false
const ended = await watch(operator, run.id, (now) => {
	if (!watching && now.steps.some((x) => x.hosts.some((h) => h.state === 'running'))) {
		watching = true
		console.error('watching')
	}
})
const step = ended.steps[0]
assert.equal(ended.state, 'failed')
assert.ok(step)
const failed = step.hosts.filter((x) => x.state === 'failed').map((x) => x.id)
const output = await ok(brine.getRunOutput({ ...operator, path: { id: run.id }, query: { host: failed[0] } }))
const record = await ok(brine.getExecution({ ...operator, path: { jid: ended.jid ?? '' } }))
assert.equal(record.status, 'failed')

// A further one is stopped by hand before it begins, by who may.
const again = await ok(brine.startChain({ ...editor, path, body: {} }))
await ok(brine.stopRun({ ...operator, path: { id: again.id } }))
const stopped = await watch(operator, again.id)

await refused(brine.deleteChain({ ...operator, path }), 403, /editor/)
await brine.deleteChain({ ...editor, path, query: { version: changed.version } })
await refused(brine.getChain({ ...operator, path }), 404, /friday/)
await refused(brine.getChain({ baseUrl, auth: 'wrong', path }), 401, /./)
console.log(JSON.stringify({ run: run.id, hosts: step.hosts_total, done: step.hosts_done, failed, output: output.parts.map((x) => x.text + x.stderr), stopped: stopped.state, kept: (await ok(brine.listAudit(editor))).items.length }))
