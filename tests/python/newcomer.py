"""What a newcomer does with the wheel, where nothing else is installed: a model from nothing, trained on an own file,
asked. Prints "ok" at its end: newcomer.py FOLDER"""

import json
import os
import sys

import hearth

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
people, towns = ["Elif", "Greta", "Kira", "Bruno"], ["Bergen", "Faro", "Jena"]
texts = [f"{person} lives in {town}." for person in people for town in towns]
labels = [towns.index(town) for _ in people for town in towns]
with open("texts.txt", "w") as file:
    file.write("\n".join(texts) + "\n")
with open("train.csv", "w") as file:
    file.write("text,label\n" + "".join(f"{text},{towns[label]}\n" for text, label in zip(texts, labels)))
sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
config = {"model_type": "bert", "architectures": ["BertModel"], "vocab_size": 1, "max_position_embeddings": 64}
with open("config.json", "w") as file:
    json.dump({**config, **sizes, "type_vocab_size": 2, "hidden_act": "gelu"}, file)

hearth.main(["train_tokenizer", "--files", "texts.txt", "--output_dir", "tokenizer", "--vocab_size", "200"])
hearth.main(["init_model", "--config", "config.json", "--tokenizer", "tokenizer", "--output_dir", "model"])

tokenizer = hearth.AutoTokenizer.from_pretrained("model")
model = hearth.AutoModelForSequenceClassification.from_pretrained("model", id2label=dict(enumerate(towns)))
args = hearth.TrainingArguments(
    "out", num_train_epochs=40, learning_rate=1e-3, bf16=True, save_strategy="no", use_ipex=True
)
data = {**tokenizer(texts, truncation=True), "labels": labels}
trainer = hearth.Trainer(model, args, train_dataset=data, processing_class=tokenizer)
print(trainer.train())
trainer.save_model()

answer = hearth.pipeline("text-classification", model="out")("Greta lives in Faro.")
print(answer)
assert answer[0]["label"] == "Faro", answer
print("ok")
