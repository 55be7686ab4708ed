// The rival of `scripts/bench serve-live`: a Node server that batches whatever waits when the engine is free, up to 64 rows.
//
//   node serve_rival.js MODEL.onnx COLUMNS      with the package onnxruntime-node; prints its port
const http = require('http');
const ort = require('onnxruntime-node');

const ROWS_MAX = 64;
const [model, columns] = [process.argv[2], Number(process.argv[3])];
const waiting = [];
let isBusy = false;

function answer({ response }, values) {
  const text = JSON.stringify({ outputs: [{ name: 'y', datatype: 'FP32', shape: [1, values.length], data: Array.from(values) }] });
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

async function run(session) {
  if (isBusy || waiting.length === 0) return;
  isBusy = true;
  const batch = waiting.splice(0, ROWS_MAX);
  const inputs = new Float32Array(batch.length * columns);
  batch.forEach((request, row) => inputs.set(request.values, row * columns));
  const { y } = await session.run({ x: new ort.Tensor('float32', inputs, [batch.length, columns]) });
  const width = y.dims[1];
  batch.forEach((request, row) => answer(request, y.data.subarray(row * width, (row + 1) * width)));
  isBusy = false;
  setImmediate(() => run(session));
}

async function main() {
  const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const server = http.createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      const raw = body.subarray(Number(request.headers['inference-header-content-length']));
      waiting.push({ values: new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length)), response });
      run(session);
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}
main();
