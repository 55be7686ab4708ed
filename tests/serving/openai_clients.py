#!/usr/bin/env python3
"""Runs the clients `openai` of PyPI and npm, unchanged, against a server with OpenAI's API.

    openai_clients.py URL [--model NAME] [--key KEY] [--broken NAME] [--no-embeddings]

URL is that of the server, without /v1. `--broken` names a model whose streams break. The client of npm is looked for in
NODE_PATH and in the working folder. Exit status: 0 what is installed passed, 1 a check failed, 77 none is installed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

PROMPT = "one two three four"

NODE_PROGRAM = r"""
const OpenAI = require("openai").default ?? require("openai");
const [url, model, key, broken, embeddings] = process.argv.slice(2);
const client = new OpenAI({ baseURL: url + "/v1", apiKey: key, maxRetries: 0, timeout: 60000 });
const wanted = (is, what) => { if (!is) throw new Error("wanted " + what); };
const messages = [{ role: "user", content: "one two three four" }];
(async () => {
  const names = [];
  for await (const each of client.models.list()) names.push(each.id);
  wanted(names.includes(model), "the model in the list");
  wanted((await client.models.retrieve(model)).id === model, "the model");
  const answer = await client.chat.completions.create({ model, messages, max_tokens: 8 });
  wanted(answer.choices[0].message.content.length > 0, "a text");
  wanted(answer.usage.prompt_tokens > 0, "usage");
  let text = "", usage = null;
  const stream = await client.chat.completions.create(
    { model, messages, max_tokens: 8, stream: true, stream_options: { include_usage: true } });
  for await (const part of stream) {
    text += part.choices[0]?.delta?.content ?? "";
    usage = part.usage ?? usage;
  }
  wanted(text.length > 0 && usage.completion_tokens > 0, "a stream with usage");
  wanted((await client.completions.create({ model, prompt: "one two", max_tokens: 4 })).choices.length === 1, "a completion");
  if (embeddings === "yes") {
    wanted((await client.embeddings.create({ model, input: ["a", "b"], encoding_format: "float" })).data.length === 2, "embeddings");
  }
  const unknown = await client.chat.completions.create({ model: "no-such-model", messages }).catch((error) => error);
  wanted(unknown instanceof OpenAI.NotFoundError && unknown.code === "model_not_found", "NotFoundError");
  if (broken) {
    const failed = await (async () => {
      for await (const part of await client.chat.completions.create({ model: broken, messages, stream: true })) void part;
    })().catch((error) => error);
    wanted(failed instanceof OpenAI.APIError, "APIError of a broken stream");
  }
  const leaving = await client.chat.completions.create({ model, messages, stream: true });
  for await (const part of leaving) { void part; break; }
})().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
"""


def check_python(options):
    import openai

    client = openai.OpenAI(base_url=options.url + "/v1", api_key=options.key, max_retries=0, timeout=60)
    messages = [{"role": "user", "content": PROMPT}]
    model = options.model
    assert model in [each.id for each in client.models.list()]
    assert client.models.retrieve(model).id == model
    answer = client.chat.completions.create(model=model, messages=messages, max_tokens=8)
    assert answer.choices[0].message.content and answer.usage.prompt_tokens > 0
    parts = list(client.chat.completions.create(model=model, messages=messages, max_tokens=8, stream=True,
                                                stream_options={"include_usage": True}))
    assert "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
    assert [part.usage for part in parts if part.usage][-1].completion_tokens > 0
    assert client.completions.create(model=model, prompt="one two", max_tokens=4).choices
    if options.embeddings:
        assert len(client.embeddings.create(model=model, input=["a", "b"], encoding_format="float").data) == 2
    try:
        client.chat.completions.create(model="no-such-model", messages=messages)
        raise AssertionError("wanted NotFoundError")
    except openai.NotFoundError as error:
        assert error.code == "model_not_found", error
    if options.broken:
        try:
            list(client.chat.completions.create(model=options.broken, messages=messages, stream=True))
            raise AssertionError("wanted APIError of a broken stream")
        except openai.APIError:
            pass
    with client.chat.completions.create(model=model, messages=messages, stream=True) as leaving:
        next(iter(leaving))


def check_node(options):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "client.cjs")
        with open(program, "w", encoding="utf-8") as file:
            file.write(NODE_PROGRAM)
        places = [os.environ.get("NODE_PATH", ""), os.path.join(os.getcwd(), "node_modules")]
        environment = os.environ | {"NODE_PATH": os.pathsep.join(place for place in places if place)}
        arguments = [options.url, options.model, options.key, options.broken, "yes" if options.embeddings else "no"]
        done = subprocess.run(["node", program, *arguments], env=environment, timeout=300, text=True, capture_output=True,
                              check=False)
        if "Cannot find module 'openai'" in done.stderr:
            raise ModuleNotFoundError("node has no module openai")
        assert done.returncode == 0, done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--key", default="none")
    parser.add_argument("--broken", default="")
    parser.add_argument("--no-embeddings", dest="embeddings", action="store_false")
    options = parser.parse_args()
    passed_count = 0
    for name, check in (("python", check_python), ("node", check_node)):
        if name == "node" and shutil.which("node") is None:
            print("node: skipped: not installed")
            continue
        try:
            check(options)
        except ModuleNotFoundError as error:
            print(f"{name}: skipped: {error}")
            continue
        print(f"{name}: passed")
        passed_count += 1
    return 0 if passed_count > 0 else 77


if __name__ == "__main__":
    sys.exit(main())
